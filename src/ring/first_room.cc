// SPDX-License-Identifier: MIT
#include "ring/first_room.h"

#include <algorithm>

namespace blip::ring {
namespace {

constexpr uint64_t kForAll = 8 << 20;  // some five milliseconds to make
constexpr uint64_t kLeast = 128 << 10;

}  // namespace

FirstRoom first_room(const abi::Geometry& geometry, size_t rings) {
  const uint64_t share =
      std::max(kForAll / std::max<size_t>(rings, 1) / abi::kPageSize * abi::kPageSize, kLeast);
  if (share >= geometry.ring_size()) return {0, geometry.ring_size()};
  if (share < geometry.subbuf_size) return {geometry.subbuf_size - share, geometry.subbuf_size};
  return {0, share / geometry.subbuf_size * geometry.subbuf_size};
}

void start_with(const FirstRoom& room, const abi::Geometry& geometry, int32_t pid,
                abi::RingControl& control) {
  if (room.end == geometry.ring_size()) return;
  // `consumed` will not say where to read from: who finds the ring of a dead blip begins at the note.
  control.releases[1] = {.pos = room.start, .pid = pid};
  control.release_count = 1;
  control.pos = room.start;
  announce_room(geometry, room.end, control);
}

// Below zero while there is memory to come: all positions are compared by their distance.
void announce_room(const abi::Geometry& geometry, uint64_t end, abi::RingControl& control) {
  __atomic_store_n(&control.consumed, end - geometry.ring_size(), __ATOMIC_RELEASE);
}

}  // namespace blip::ring
