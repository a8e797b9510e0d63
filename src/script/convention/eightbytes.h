// SPDX-License-Identifier: MIT
// The classes that the System V convention gives to the eightbytes of a value.
#pragma once

#include <array>
#include <cstdint>

#include "script/types/type.h"

namespace blip::script {

enum class EightbyteClass : uint8_t {
  kNothing,  // padding
  kInteger,
  kSse,
  kSseUp,  // the upper half of a vector register
  kX87,
  kMemory,
  kNotKnown,
};

struct Eightbytes {
  std::array<EightbyteClass, 2> classes{};
  bool in_memory = false;
  bool is_known = true;
  bool is_x87 = false;  // a long double: as an argument in memory
  // More than 16 bytes for one vector register, if the code was made for a CPU that has such; else in memory.
  bool is_wide_vector = false;
};

Eightbytes classify(const Type& type);
// The alignment that the members ask for, at least 1.
uint32_t natural_alignment(const Type& type);

}  // namespace blip::script
