// SPDX-License-Identifier: MIT
#include "ring/format.h"

#include <bit>
#include <cstring>

#include "base/check.h"

namespace blip::ring {
namespace {

void list_areas(const abi::Geometry& geometry, abi::DataHeader& header) {
  for (const abi::AreaId id : abi::Geometry::kOrder) {
    const abi::Area area = geometry.area(id);
    header.areas[static_cast<uint32_t>(id)] = area.size != 0 ? area : abi::Area{};
  }
}

void format_rings(const abi::Geometry& geometry, uint8_t* region, uint64_t control_addr) {
  auto* controls = reinterpret_cast<abi::RingControl*>(region + abi::kRingControlsOffset);
  for (uint32_t i = 0; i < geometry.ring_count; ++i) {
    controls[i] = {};
    controls[i].data_addr = control_addr + geometry.ring_data_offset() + geometry.ring_size() * i;
  }
}

void format_shared_ring(const abi::Geometry& geometry, uint8_t* region) {
  auto* ring = reinterpret_cast<abi::SharedRing*>(region + geometry.shared_ring_offset());
  *ring = {};
  ring->slots_offset = geometry.slots_offset();
  if (geometry.slot_count == 0) return;
  ring->slot_shift = static_cast<uint32_t>(std::countr_zero(geometry.slot_size));
  ring->slot_mask = geometry.slot_count - 1;
  for (uint64_t ticket = 0; ticket < geometry.slot_count; ++ticket) {
    auto* slot = reinterpret_cast<uint64_t*>(region + geometry.slots_offset() + ticket * geometry.slot_size);
    *slot = abi::slot_state(ticket, 0, abi::kSlotFree);
  }
}

void format_latencies(const abi::Geometry& geometry, uint8_t* region) {
  for (uint32_t row = 0; row <= geometry.ring_count; ++row) {
    auto* totals = reinterpret_cast<abi::LatencyTotals*>(region + geometry.latency_totals_offset(row, 0));
    for (uint32_t id = 0; id < geometry.class_count; ++id) totals[id] = {.sum = abi::kLatencyBias, .max = 0};
  }
}

}  // namespace

bool is_valid(const abi::Geometry& geometry) {
  constexpr uint32_t kMinSlotSize = 32;
  const bool rings =
      geometry.subbuf_size == 0 ||
      (std::has_single_bit(geometry.subbuf_size) && std::has_single_bit(geometry.subbuf_count) &&
       geometry.subbuf_size >= abi::kPageSize && geometry.subbuf_count >= 2);
  const bool slots = geometry.slot_size == 0 ||
                     (std::has_single_bit(geometry.slot_size) && std::has_single_bit(geometry.slot_count) &&
                      geometry.slot_size >= kMinSlotSize && geometry.slot_count >= 2);
  const bool counts_only = geometry.subbuf_size == 0 && geometry.slot_size == 0;
  const bool latencies =
      !geometry.latencies || (geometry.region_size() <= INT32_MAX &&
                              geometry.area(abi::AreaId::kLatencies).size <= abi::kMaxLatencyBytes);
  const bool ranges = !geometry.ranges || geometry.shared_ring_offset() <= INT32_MAX;
  const bool stacks =
      geometry.stack_slots == 0 || (std::has_single_bit(geometry.stack_slots) && geometry.stack_depth > 0 &&
                                    geometry.stack_depth <= abi::kMaxStackDepth);
  return rings && slots && latencies && ranges && stacks && geometry.class_count >= abi::kFirstClass &&
         geometry.class_count <= (counts_only ? abi::kMaxCounted : abi::kMaxClasses) &&
         geometry.sites_offset() - geometry.counters_offset() <= abi::kMaxCounterBytes;
}

void format_region(const abi::Geometry& geometry, uint8_t* region, uint64_t control_addr) {
  CHECK(is_valid(geometry));
  auto* header = reinterpret_cast<abi::DataHeader*>(region);
  header->version = abi::kVersion;
  header->header_size = sizeof(abi::DataHeader);
  header->region_size = geometry.region_size();
  header->control_addr = header->home_addr = control_addr;
  header->ring_count = geometry.ring_count;
  header->class_count = geometry.class_count;
  header->subbuf_count = geometry.subbuf_count;
  header->subbuf_size = geometry.subbuf_size;
  header->site_count = geometry.site_count;
  header->probe_count = geometry.probe_count;
  list_areas(geometry, *header);
  std::memset(region + geometry.switches_offset(), abi::kSwitchOn, geometry.probe_count);
  format_rings(geometry, region, control_addr);
  format_shared_ring(geometry, region);
  if (geometry.latencies) format_latencies(geometry, region);
  if (geometry.ranges) {
    auto* ranges = reinterpret_cast<abi::RangeControl*>(region + geometry.ranges_offset());
    std::memset(ranges, 0, offsetof(abi::RangeControl, tables));
  }
  header->stack_slots = geometry.stack_slots;
  header->stack_frames = geometry.stack_frames;
  header->stack_depth = geometry.stack_depth;
  __atomic_store_n(&header->magic, abi::kMagic, __ATOMIC_RELEASE);
}

}  // namespace blip::ring
