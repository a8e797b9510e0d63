// SPDX-License-Identifier: MIT
#include "session/trampoline_room.h"

#include <algorithm>

#include "probe/plan.h"

namespace blip::session {

namespace {

constexpr size_t kShare = 4;          // of what the process has left
constexpr uint64_t kPadBytes = 1024;  // more than a probe's share of a pad with many contexts
constexpr uint64_t kLeastPads = 16 << 20;
constexpr uint64_t kReach = (uint64_t{1} << 31) - (uint64_t{1} << 24);

void cut(std::vector<AddrRange>& ranges, AddrRange hole) {
  std::vector<AddrRange> left;
  for (const AddrRange& r : ranges) {
    if (!r.overlaps(hole)) {
      left.push_back(r);
      continue;
    }
    if (r.begin < hole.begin) left.push_back({r.begin, hole.begin});
    if (hole.end < r.end) left.push_back({hole.end, r.end});
  }
  ranges = std::move(left);
}

}  // namespace

// Trampolines lie scattered: near the code a stretch is kept free of them where the pads find room in one
// piece.
x86::TrampolineSpace room_for_trampolines(std::span<const proc::Map> maps, size_t probes) {
  const size_t most = proc::max_map_count();
  const size_t left = most > maps.size() ? most - maps.size() : 0;
  std::vector<AddrRange> free = proc::free_ranges(maps);
  const uint64_t pads = std::max(kLeastPads, probes * kPadBytes);
  for (const proc::Map& map : maps) {
    if (!map.exec || !map.file_backed()) continue;
    const TargetAddr low(map.range.end.value - std::min(map.range.end.value, kReach));
    if (const auto at = proc::find_gap(maps, pads, {low, map.range.begin + kReach}))
      cut(free, {*at, *at + pads});
  }
  return x86::TrampolineSpace(std::move(free), std::min(probe::kMaxTrampolinePages, left / kShare));
}

}  // namespace blip::session
