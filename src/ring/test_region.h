// SPDX-License-Identifier: MIT
// For tests only: a gate page and a formatted data region in this process, so that it can play target and
// blip at once.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "abi/layout.h"
#include "base/check.h"
#include "base/mapping.h"
#include "ring/format.h"

namespace blip::ring {

class TestRegion {
 public:
  explicit TestRegion(const abi::Geometry& geometry) : geometry_(geometry) {
    auto mapping = Mapping::create(abi::kGatePageSize + geometry.region_size(), PROT_READ | PROT_WRITE,
                                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(mapping.has_value());
    mapping_ = *std::move(mapping);
    format_region(geometry_, region(), reinterpret_cast<uint64_t>(region()));
    gate()->gate = abi::kGateOpen;
    gate()->tid_offset = abi::kNoTidOffset;
  }

  const abi::Geometry& geometry() const { return geometry_; }
  uint8_t* region() const { return mapping_.data() + abi::kGatePageSize; }
  abi::GatePage* gate() const { return reinterpret_cast<abi::GatePage*>(mapping_.data()); }
  abi::RingControl* ring_control(uint32_t ring) const {
    return reinterpret_cast<abi::RingControl*>(region() + abi::kRingControlsOffset) + ring;
  }
  uint8_t* ring_data(uint32_t ring) const {
    return region() + geometry_.ring_data_offset() + geometry_.ring_size() * ring;
  }
  abi::SharedRing* shared_ring() const {
    return reinterpret_cast<abi::SharedRing*>(region() + geometry_.shared_ring_offset());
  }
  uint64_t* slot(uint64_t ticket) const {
    const uint64_t index = ticket & (geometry_.slot_count - 1);
    return reinterpret_cast<uint64_t*>(region() + geometry_.slots_offset() + index * geometry_.slot_size);
  }

  // As if `ticket` tickets had been used already.
  void start_shared_ring_at(uint64_t ticket) const {
    shared_ring()->tail_hint = shared_ring()->consumed = ticket;
    for (uint64_t t = ticket; t != ticket + geometry_.slot_count; ++t)
      *slot(t) = abi::slot_state(t, 0, abi::kSlotFree);
  }
  void start_ring_at(uint32_t ring, uint64_t pos) const {
    ring_control(ring)->pos = ring_control(ring)->consumed = pos;
  }

 private:
  abi::Geometry geometry_;
  Mapping mapping_;
};

// What a drain handed out.
struct Event {
  uint64_t tsc;
  uint16_t class_id;
  std::vector<uint64_t> words;  // header and fields

  bool operator==(const Event&) const = default;
};

struct Collector {
  std::vector<Event> events;

  void operator()(uint64_t tsc, uint16_t class_id, const uint8_t* record, uint32_t size) {
    Event event{tsc, class_id, std::vector<uint64_t>(size / 8)};
    std::memcpy(event.words.data(), record, size);
    events.push_back(std::move(event));
  }
};

}  // namespace blip::ring
