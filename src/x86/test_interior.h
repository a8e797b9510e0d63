// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include "x86/branch_scan.h"

namespace blip::x86::test {

// True if a direct branch of the text leads into a window other than to its start. A branch inside the window
// moves along with it.
inline bool is_entered(std::span<const uint8_t> text, TargetAddr base, std::span<const TargetAddr> starts,
                       AddrRange window) {
  const BranchFilter wanted = [&](const Branch& b) {
    return b.target > window.begin && b.target < window.end && !window.contains(b.opcode);
  };
  return !near_branches(text, base, starts, wanted).empty() ||
         !short_branches(text, base, starts, {base, base + text.size()}, wanted).empty();
}

}  // namespace blip::x86::test
