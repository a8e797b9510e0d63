// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/test_registers.h"

namespace blip::x86::test {

// The registers that a snippet starts with and ends with.
using blip::test::kR10, blip::test::kRax, blip::test::kRbp, blip::test::kRcx, blip::test::kRdi,
    blip::test::kRsi, blip::test::kRsp;
using blip::test::Registers;

// A small function to be run where it is and through a relocated copy of its beginning. On entry rdi, rsi and
// rbp point to memory, r10 and [rdi+8] hold the address of a callee; an 8-byte kCalleeMark in the snippet is
// replaced by it. May change anything; ends with ret.
struct Snippet {
  std::string_view name;
  std::span<const uint8_t> bytes;
};
inline constexpr uint64_t kCalleeMark = 0x5eed5eed5eed5eed;

std::vector<Snippet> zoo();

// The code to which r10 points: position independent, counts its calls in r11 and clobbers nothing else.
std::span<const uint8_t> zoo_callee();

// Runs the code with these registers until it returns to zoo_exit_address(), which must be at the top of its
// stack.
void zoo_run(Registers& registers, const uint8_t* code);
uint64_t zoo_exit_address();

}  // namespace blip::x86::test
