// SPDX-License-Identifier: MIT
// For tests only: room for open calls, a gate page and a formatted data region in this process, so that it
// can play target and blip at once.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "abi/layout.h"
#include "abi/shadow.h"
#include "base/check.h"
#include "base/mapping.h"
#include "ring/format.h"

namespace blip::ring {

class TestRegion {
 public:
  // With room for values of entries.
  static constexpr uint64_t kShadow = abi::kShadowSize + abi::kKeptSize;
  static_assert(kShadow % abi::kPageSize == 0);

  explicit TestRegion(const abi::Geometry& geometry) : geometry_(geometry) {
    auto mapping = Mapping::create(kBelow + geometry.region_size(), PROT_READ | PROT_WRITE,
                                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(mapping.has_value());
    mapping_ = *std::move(mapping);
    CHECK(::mmap(mapping_.data(), kShadow, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
                 -1, 0) != MAP_FAILED);
    format();
    gate()->gate = abi::kGateOpen;
    gate()->tid_offset = abi::kNoTidOffset;
  }

  const abi::Geometry& geometry() const { return geometry_; }
  uint8_t* region() const { return mapping_.data() + kBelow; }
  abi::GatePage* gate() const { return reinterpret_cast<abi::GatePage*>(mapping_.data() + kShadow); }
  std::span<abi::ShadowThread> threads() const {
    return {reinterpret_cast<abi::ShadowThread*>(mapping_.data()), 1 << abi::kShadowThreadBits};
  }
  std::span<abi::ShadowFrame> frames() const {
    return {reinterpret_cast<abi::ShadowFrame*>(mapping_.data() + abi::kShadowThreadsSize),
            1 << abi::kShadowFrameBits};
  }

  std::span<abi::KeptValues> kept() const {
    return {reinterpret_cast<abi::KeptValues*>(mapping_.data() + abi::kShadowSize),
            1 << abi::kShadowFrameBits};
  }

  // As it was at first, but for the gate.
  void format() const {
    std::memset(region(), 0, geometry_.ring_data_offset());
    std::memset(region() + geometry_.latencies_offset(), 0,
                geometry_.region_size() - geometry_.latencies_offset());
    std::memset(mapping_.data(), 0, abi::kShadowSize);
    format_region(geometry_, region(), reinterpret_cast<uint64_t>(region()));
    header()->shadow_size = kShadow;
  }
  abi::DataHeader* header() const { return reinterpret_cast<abi::DataHeader*>(region()); }
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
  static constexpr uint64_t kBelow = kShadow + abi::kGatePageSize;

  abi::Geometry geometry_;
  Mapping mapping_;
};

// One event that a drain handed out.
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
