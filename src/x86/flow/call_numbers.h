// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/addr.h"

namespace blip::x86 {

// A `syscall` instruction, and what may be in eax there.
struct NumberedCall {
  TargetAddr at;
  std::vector<uint32_t> numbers;  // sorted; empty: anything
};

struct FunctionCalls {
  std::vector<NumberedCall> calls;
  // The first byte that begins no instruction: behind it any may be hidden.
  std::optional<TargetAddr> undecodable;
};

// The places at which code enters a function from elsewhere. A guessed place inside an instruction was wrong.
struct OutsideEntries {
  std::span<const TargetAddr> certain, guessed;
};

// Following values takes some 700 bytes of memory per instruction. In a larger function no number is known.
inline constexpr size_t kMostFollowedCode = 64 << 10;

// The calls of `code`, decoded from `base` on, with no numbers. Takes no memory but for the result.
FunctionCalls find_calls(std::span<const uint8_t> code, TargetAddr base);

// Those of `code`, a whole function at `base`, by the constants that come there on any way through direct
// jumps. At entries, where nothing is seen to lead, and in more than kMostFollowedCode, nothing is known.
FunctionCalls find_call_numbers(std::span<const uint8_t> code, TargetAddr base,
                                const OutsideEntries& entries);

}  // namespace blip::x86
