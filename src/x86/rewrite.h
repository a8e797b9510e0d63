// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "base/addr.h"

namespace blip::x86 {

// The ladder: how control gets from a place in the code to its pad. See docs/design/patch_plan.md.
enum class Step : uint8_t {
  kNop,       // one nop of 5 bytes or more
  kSingle,    // one instruction of 5 bytes or more
  kWindow,    // several instructions, or one and the padding behind it
  kUpstream,  // of a probe, not of a rewrite: it runs inside a run of instructions moved from an earlier one
              // on
  kSpringboard,     // a short jump to the real one in padding nearby
  kPun,             // the jump's last bytes are those of the next instructions
  kPrefixedPun,     // the same behind redundant prefixes
  kEvictNext,       // the same, the next instruction being moved too
  kEvictNeighbour,  // a short jump to the real one in the bytes of a neighbour that is moved too
  kTrap,            // int3
};
inline constexpr size_t kStepCount = 10;

// One place where the flow of control is led into a pad: instructions [start, start + length) run there.
struct Rewrite {
  TargetAddr start;
  uint8_t length = 0;   // whole instructions, to be relocated
  uint8_t padding = 0;  // bytes behind them, nop or int3 that nobody reaches, which are overwritten too
  Step step = Step::kWindow;
  uint8_t prefixes = 0;      // redundant bytes in front of a punned jump's opcode
  TargetAddr entry{};        // not 0: the jump leads exactly here, and a trampoline here to the pad
  TargetAddr springboard{};  // not 0: start holds a short jump to these 5 bytes, which hold the jump
  uint8_t rank = 0;  // written after everything of a lower rank, restored before it: each prefix is valid
  uint8_t lead = 0;  // bytes from start on that must run before the probe's program: see GoStackCheck

  // Everything that may not be executed in place any more: [start, end()).
  TargetAddr end() const { return start + length + padding; }
};

}  // namespace blip::x86
