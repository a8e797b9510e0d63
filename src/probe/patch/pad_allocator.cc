// SPDX-License-Identifier: MIT
// Nothing is ever given back here: threads and children may be in pads whose probes are gone (docs/design/lifecycle.md).
#include "probe/patch/pad_allocator.h"

#include <algorithm>

#include "abi/layout.h"

namespace blip::probe {

namespace {

// Areas must still find a place near the code, among its trampolines.
constexpr uint64_t kLeastSpare = 256 << 10, kMostSpare = 8 << 20;

uint64_t whole_pages(uint64_t size) { return abi::Geometry::align_up(size, abi::kPageSize); }

}  // namespace

void PadAllocator::add(const PadRoom& room, uint64_t used) {
  const uint64_t taken = whole_pages(used);
  used_ += taken;
  if (taken >= room.range.size()) return;
  free_.push_back({{room.range.begin + taken, room.range.end}, room.file, room.offset + taken});
}

std::optional<std::vector<PadRoom>> PadAllocator::take(std::span<const Neighbourhood> areas) {
  std::vector<PadRoom> left = free_, taken;
  for (const Neighbourhood& area : areas) {
    const auto room = take_from(left, area);
    if (!room) return std::nullopt;
    taken.push_back(*room);
  }
  for (const PadRoom& room : taken) used_ += room.range.size();
  free_ = std::move(left);
  return taken;
}

// The smallest that is large enough.
std::optional<PadRoom> PadAllocator::take_from(std::vector<PadRoom>& free, const Neighbourhood& area) {
  const uint64_t size = whole_pages(area.size);
  PadRoom* best = nullptr;
  for (PadRoom& room : free) {
    const bool fits = room.range.size() >= size && area.reach.begin <= room.range.begin &&
                      room.range.begin + size <= area.reach.end;
    if (fits && (best == nullptr || room.range.size() < best->range.size())) best = &room;
  }
  if (best == nullptr) return std::nullopt;
  const PadRoom taken{{best->range.begin, best->range.begin + size}, best->file, best->offset};
  best->range.begin = best->range.begin + size;
  best->offset += size;
  if (best->range.size() == 0) free.erase(free.begin() + (best - free.data()));
  return taken;
}

uint64_t PadAllocator::spare_for(uint64_t size) const {
  return whole_pages(std::clamp(used_ + size, kLeastSpare, kMostSpare));
}

}  // namespace blip::probe
