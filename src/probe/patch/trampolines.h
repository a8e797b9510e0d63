// SPDX-License-Identifier: MIT
// Punned jumps lead where other instructions' bytes say: all over the 4 GiB around the code. What they meet
// there is five bytes each, a jump to the pad. Pages of the target that use different bytes of a page share
// one page of memory. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/addr.h"

namespace blip::probe {

// Each costs the target a mapping (vm.max_map_count is 65530 by default, and the program needs some).
inline constexpr size_t kMaxTrampolineRuns = 8192;

// Neighbouring pages of the target, and the first of as many neighbouring frames behind them.
struct TrampolineRun {
  AddrRange pages;
  uint64_t frame = 0;
};

struct TrampolineLayout {
  std::vector<TrampolineRun> runs;  // sorted by address
  uint64_t frames = 0;              // pages of memory

  // Returns where an entry's bytes are, from the first frame on; nothing if its page is not among the runs.
  std::optional<uint64_t> offset_of(TargetAddr entry) const;
};

// No two of the entries overlap. Those in runs beyond `max_runs` are left out.
TrampolineLayout pack_trampolines(std::span<const TargetAddr> entries, size_t max_runs = kMaxTrampolineRuns);

}  // namespace blip::probe
