// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "script/types/type.h"

namespace blip::script {

// How Rust passes a structure or an enum, as far as extern "C" does the same, or never has such a type.
struct RustPassing {
  enum class Kind : uint8_t {
    kNotKnown,
    kNothing,  // it has no size
    kScalars,  // one or two numbers, each in a register of its own
    kWord,     // all of it in one general register
    kPointer,  // in memory
  } kind = Kind::kNotKnown;
  struct Scalar {
    uint64_t offset = 0, size = 0;
    bool is_float = false;
    bool operator==(const Scalar&) const = default;
  };
  std::vector<Scalar> scalars{};
};

RustPassing rust_argument(const Type& type);
RustPassing rust_result(const Type& type);

}  // namespace blip::script
