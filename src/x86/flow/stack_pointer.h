// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>

namespace blip::x86 {

// True if a function's code calculates with rsp as with any other register, so that rsp may point to no stack
// somewhere in it. Instructions that move a stack or change to another one do not count: push, pop, leave,
// sums and differences, alignment, and copies of a register, of memory, or of an address near one. For a lea
// with an index, one part must come from rsp somewhere in the same code. Values that a register or memory
// held before are taken for stacks.
bool calculates_with_rsp(std::span<const uint8_t> code);

}  // namespace blip::x86
