// SPDX-License-Identifier: MIT
#include "ring/region_view.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "ring/format.h"

namespace blip::ring {

namespace {

constexpr uint64_t kMostRegion = uint64_t{1} << 40;

}  // namespace

RegionView::RegionView(std::span<const uint8_t> mapped)
    : RegionView(mapped.size(), [mapped](uint64_t offset, std::span<uint8_t> to) {
        std::memcpy(to.data(), mapped.data() + offset, to.size());
        return Status();
      }) {}

Status RegionView::read(uint64_t offset, std::span<uint8_t> to) const {
  if (offset > size_ || to.size() > size_ - offset) return outside();
  return read_(offset, to);
}

Result<std::optional<abi::Geometry>> RegionView::geometry(const abi::DataHeader& h) const {
  const std::optional<abi::Geometry> unknown;
  const abi::Area ring = area(h, abi::AreaId::kSharedRing);
  if (ring.size < sizeof(abi::SharedRing)) return unknown;
  TRY(const auto shared, value<abi::SharedRing>(ring.offset));
  const uint64_t schema_room = h.area(abi::AreaId::kSchema).size;
  if (shared.slot_shift >= 32 || h.region_size != size_ || size_ > kMostRegion || schema_room > size_ ||
      schema_room > UINT32_MAX || h.schema_size > schema_room || h.subbuf_size == 0)
    return unknown;
  abi::Geometry g{.ring_count = h.ring_count,
                  .class_count = h.class_count,
                  .subbuf_count = h.subbuf_count,
                  .subbuf_size = h.subbuf_size,
                  .site_count = h.site_count,
                  .probe_count = h.probe_count,
                  .slot_size = uint32_t{1} << shared.slot_shift,
                  .slot_count = shared.slot_mask + 1,
                  .schema_size = static_cast<uint32_t>(schema_room)};
  g.ranges = h.area(abi::AreaId::kRanges).size != 0;
  g.stack_slots = h.stack_slots;
  g.stack_frames = h.stack_frames;
  g.stack_depth = h.stack_depth;
  const auto is_there = [&](abi::AreaId id) {
    const abi::Area wanted = g.area(id);
    return wanted.size == 0 || area(h, id) == wanted;
  };
  const bool same = is_valid(g) && g.region_size() == size_ &&
                    std::all_of(std::begin(abi::Geometry::kOrder), std::end(abi::Geometry::kOrder), is_there);
  return same ? std::optional(g) : unknown;
}

}  // namespace blip::ring
