// SPDX-License-Identifier: MIT
#include "x86/stay_ahead.h"

namespace blip::x86 {

namespace {

// The stack, and what a walk up the stack begins with: rbx, rsp, rbp, r12 to r15.
constexpr uint16_t kOfTheCaller = 1 << 3 | 1 << 4 | 1 << 5 | 0xf << 12;

}  // namespace

bool may_stay_ahead(const Insn& insn, const Shown& shown) {
  if (insn.flow != Flow::kNext || insn.is_privileged || shown.registers == Shown::kAllRegisters) return false;
  if ((insn.registers_changed & (shown.registers | kOfTheCaller)) != 0) return false;
  return !(shown.vectors && insn.uses_vector) && !(shown.memory && insn.writes_memory);
}

}  // namespace blip::x86
