// SPDX-License-Identifier: MIT
// Instructions at a function's entry that must stay in place may run before the probe's program, if nothing
// that the program shows could tell.
#pragma once

#include <cstdint>

#include "x86/decode.h"

namespace blip::x86 {

// The parts of a thread that a probe at a function's entry shows. By default it shows all of them.
struct Shown {
  uint16_t registers = kAllRegisters;  // bit n: general register n; all: the flags too
  bool vectors = true;
  bool memory = true;  // other than what a walk up the stack looks at

  static constexpr uint16_t kAllRegisters = 0xffff;
  static constexpr Shown nothing() { return {0, false, false}; }
  Shown& operator|=(const Shown& other) {
    registers |= other.registers;
    vectors |= other.vectors;
    memory |= other.memory;
    return *this;
  }
  bool operator==(const Shown&) const = default;
};

// True if the probe's program may as well run behind `insn`, which stands at an entry.
bool may_stay_ahead(const Insn& insn, const Shown& shown);

}  // namespace blip::x86
