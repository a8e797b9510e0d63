// SPDX-License-Identifier: MIT
#include "session/plan/trampoline_room.h"

#include <algorithm>

#include "probe/patch/plan.h"

namespace blip::session {

namespace {

constexpr size_t kShare = 4;  // of what the process has left
// More than a probe's share of a pad that counts, or one with many contexts.
constexpr uint64_t kCountingPadBytes = 384, kPadBytes = 1024;
constexpr uint64_t kLeastPads = 16 << 20;
constexpr uint64_t kReach = (uint64_t{1} << 31) - (uint64_t{1} << 24);

// The last byte of a punned displacement is the first one of an instruction: few begin with 0x91 to 0xa7,
// some with 0xa8 to 0xb7, so few puns lead there.
constexpr uint8_t kRareBytes = 0x91, kRareEnds[] = {0xa8, 0xb8};

AddrRange led_to_by(uint8_t first, uint8_t end, AddrRange code) {
  const uint64_t farthest = uint64_t{0x100u - first} << 24, nearest = uint64_t{0x100u - end} << 24;
  if (code.begin.value < farthest) return {};
  return {code.end - farthest, code.begin - nearest};
}

std::optional<TargetAddr> place_for_pads(std::span<const proc::Map> maps, uint64_t size, AddrRange code) {
  for (const uint8_t end : kRareEnds)
    if (const auto rare = proc::find_gap(maps, size, led_to_by(kRareBytes, end, code))) return rare;
  const TargetAddr low(code.end.value - std::min(code.end.value, kReach));
  return proc::find_gap(maps, size, {low, code.begin + kReach});
}

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

// Trampolines lie scattered: in reach of the code a stretch is kept free of them where the pads find room in
// one piece.
x86::TrampolineSpace room_for_trampolines(std::span<const proc::Map> maps, size_t probes, bool counting) {
  const size_t most = proc::max_map_count();
  const size_t left = most > maps.size() ? most - maps.size() : 0;
  std::vector<AddrRange> free = proc::free_ranges(maps);
  const uint64_t pads = std::max(kLeastPads, probes * (counting ? kCountingPadBytes : kPadBytes));
  for (const proc::Map& map : maps) {
    if (!map.exec || !map.file_backed()) continue;
    if (const auto at = place_for_pads(maps, pads, map.range)) cut(free, {*at, *at + pads});
  }
  return x86::TrampolineSpace(std::move(free), std::min(probe::kMaxTrampolinePages, left / kShare));
}

}  // namespace blip::session
