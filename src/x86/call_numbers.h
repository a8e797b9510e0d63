// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/addr.h"

namespace blip::x86 {

// A `syscall` instruction, and what may be in eax there.
struct NumberedCall {
  TargetAddr at;
  std::vector<uint32_t> numbers;  // sorted; empty: anything
};

// Those of `code`, a whole function at `base`, by the constants that come there on any way through direct
// jumps. What only indirect jumps lead to is taken to begin with nothing known.
std::vector<NumberedCall> find_call_numbers(std::span<const uint8_t> code, TargetAddr base);

}  // namespace blip::x86
