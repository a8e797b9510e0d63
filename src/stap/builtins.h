// SPDX-License-Identifier: MIT
// Functions of the tapset that are no scripts: blip computes them.
#pragma once

#include <span>
#include <string_view>

#include "script/blocks/blocks.h"

namespace blip::stap {

struct Builtin {
  enum class How : uint8_t {
    kObserve,  // `op`
    kApply,    // `library`, a function of script/blocks/library.h, on the arguments
    kOfPid,    // the same, with the process as the first argument
    kOwn,      // lower_builtin.cc has it by its name
  };
  std::string_view name;
  std::string_view parameters;  // a letter for each: l is a long, s a string
  char result;                  // l, s, or v for nothing
  How how = How::kOwn;
  std::string_view library{};
  script::BlockOp op{};
  bool needs_hit = false;  // it reads the target's memory or registers
};

std::span<const Builtin> builtins();

}  // namespace blip::stap
