// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/addr.h"
#include "x86/decode.h"

namespace blip::x86 {

// The registers and flags that code may read before it writes them. In doubt it has all of them.
struct Liveness {
  uint32_t flags = kStatusFlags;
  uint16_t registers = 0xffff;  // bit n: general register n

  bool operator==(const Liveness&) const = default;
};

// The facts known where control leaves the code: by call, ret, indirect jump, or past its end.
enum class LivenessRule {
  kEntry,   // the site is a function's entry: by the C ABI no status flag that was set before it is read
            // outside; registers may be
  kInside,  // everything that was not written may be read: assembly returns results in flags
};

// The registers and flags that are live at `start`, a place in `code`, which lies at `base`. Follows direct
// jumps inside `code` for a few dozen instructions.
Liveness live_at(std::span<const uint8_t> code, TargetAddr base, TargetAddr start, LivenessRule rule);

// True if any status flag is live at `start`: the same question, but cheaper.
bool flags_live(std::span<const uint8_t> code, TargetAddr base, TargetAddr start,
                LivenessRule rule = LivenessRule::kEntry);

// The liveness before each instruction of `code`. The instructions are sorted by address and belong together,
// such as those of a function. Nothing is known of control that runs into a gap between two of them.
std::vector<Liveness> live_at_each(std::span<const Insn> code, LivenessRule rule);

}  // namespace blip::x86
