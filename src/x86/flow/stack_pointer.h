// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>

namespace blip::x86 {

// Whether a function's code calculates with rsp as with any other register, so that there may be places in it
// at which rsp points to no stack. What moves a stack or changes to another one does not count: push, pop,
// leave, sums and differences, alignment, and copies of a register, of memory, or of an address near one. Of
// a lea with an index one part must come from rsp somewhere in the same code. Values that a register or
// memory held before are believed to be stacks.
bool calculates_with_rsp(std::span<const uint8_t> code);

}  // namespace blip::x86
