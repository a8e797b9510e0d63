// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>

#include "base/addr.h"
#include "x86/entry_set.h"

namespace blip::x86 {

// Both scans report to the set, as hits, every direct branch of `text` (at `base`) that leads into a window.
// They look at every byte offset, so no branch is missed whatever the layout of the text. What only looks
// like a branch is dismissed if linear decoding from the nearest known function start (sorted; a head of an
// instruction each) comes to the place and finds another instruction there; without such a start within 64
// KiB, or with undecodable bytes between, it counts as real.

// call, jmp, jcc, xbegin with rel32. About 1 ns per byte of text.
void scan_branches(std::span<const uint8_t> text, TargetAddr base,
                   std::span<const TargetAddr> function_starts, InteriorSet& set);

// jmp, jcc, loop, jrcxz with rel8. Looks only near the windows.
void scan_short_branches(std::span<const uint8_t> text, TargetAddr base,
                         std::span<const TargetAddr> function_starts, InteriorSet& set);

}  // namespace blip::x86
