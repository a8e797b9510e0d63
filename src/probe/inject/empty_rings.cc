// SPDX-License-Identifier: MIT
#include "probe/inject/empty_rings.h"

#include <fcntl.h>

#include <algorithm>

namespace blip::probe {

namespace {

constexpr uint64_t kPiece = 1 << 20;  // the kernel holds locks of the target's page tables meanwhile
// Taking a page away costs 0.5 to 2 us in the stop.
constexpr uint64_t kLarge = 4 << 20;

// The free part of a ring, as positions. Empty if what the target says cannot be true.
struct FreePart {
  uint64_t begin = 0;
  uint64_t size = 0;
};

FreePart free_part(const abi::Geometry& geometry, const abi::RingControl& control) {
  const uint64_t untrusted_pos = __atomic_load_n(&control.pos, __ATOMIC_RELAXED);
  const uint64_t untrusted_consumed = __atomic_load_n(&control.consumed, __ATOMIC_RELAXED);
  if (untrusted_pos - untrusted_consumed > geometry.ring_size()) return {};
  const uint64_t begin = abi::Geometry::align_up(untrusted_pos, abi::kPageSize);
  const uint64_t end = untrusted_consumed / abi::kPageSize * abi::kPageSize + geometry.ring_size();
  const uint64_t size = end - begin;
  return size > geometry.ring_size() ? FreePart{} : FreePart{begin, size};
}

// A ring that still grows has no lap behind it, and nothing of it is given back to the writers. What is not
// drained lies between its start and `pos`. Memory that has not been announced yet is free, too.
FreePart free_of_growing(const abi::Geometry& geometry, const ring::FirstRoom& room,
                         const abi::RingControl& control) {
  const uint64_t untrusted_pos = __atomic_load_n(&control.pos, __ATOMIC_RELAXED);
  if (untrusted_pos < room.start || untrusted_pos > geometry.ring_size()) return {};
  const uint64_t begin = abi::Geometry::align_up(untrusted_pos, abi::kPageSize);
  const uint64_t end = room.start / abi::kPageSize * abi::kPageSize + geometry.ring_size();
  return {begin, end - begin};
}

}  // namespace

bool are_rings_large(const abi::Geometry& geometry) {
  return geometry.ring_count * geometry.ring_size() > kLarge;
}

void empty_rings(const abi::Geometry& geometry, const RegionView& region,
                 const std::optional<ring::FirstRoom>& growing) {
  const auto* controls = reinterpret_cast<const abi::RingControl*>(region.here + abi::kRingControlsOffset);
  for (uint32_t ring = 0; ring < geometry.ring_count; ++ring) {
    const uint64_t offset = geometry.ring_data_offset() + ring * geometry.ring_size();
    FreePart left =
        growing ? free_of_growing(geometry, *growing, controls[ring]) : free_part(geometry, controls[ring]);
    while (left.size != 0) {
      const uint64_t at = left.begin % geometry.ring_size();
      const uint64_t size = std::min({kPiece, left.size, geometry.ring_size() - at});
      // What cannot be given back makes the stop longer, and no more.
      (void)::fallocate(region.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                        static_cast<off_t>(offset + at), static_cast<off_t>(size));
      left = {left.begin + size, left.size - size};
    }
  }
}

}  // namespace blip::probe
