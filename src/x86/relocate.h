// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/addr.h"
#include "base/result.h"

namespace blip::x86 {

// A copy of some instructions that does at its new place what they did at the old one.
struct Relocated {
  std::vector<uint8_t> bytes;
  // Original offset -> offset in bytes, one per instruction, ascending. A thread in the copy may be moved
  // back only if it stands exactly at one of these: a call or loop becomes several instructions.
  std::vector<std::pair<uint8_t, uint16_t>> heads;
  bool falls_through =
      false;  // control can run past the last one: a jump to the original next one must follow
};

struct RelocateOptions {
  bool shadow_stack = false;  // the target has CET shadow stacks: a call cannot be imitated by push and jmp
};

// Moves the whole instructions in `window`, which lie at `from`, to `to`. All registers, flags and memory
// come out the same; a call as the last instruction leaves the ORIGINAL return address. Branches to an
// instruction inside the window go to its copy; branches to `from` itself go to `from`, where the probe fires
// again. The copy must run with the original rsp. kUnsupported with a reason for users when that cannot be
// done.
Result<Relocated> relocate(std::span<const uint8_t> window, TargetAddr from, TargetAddr to,
                           const RelocateOptions& options = {});

}  // namespace blip::x86
