// SPDX-License-Identifier: MIT
// Rings that get their memory while they are in use. What is there before the first hit is small, whatever
// size was asked for; the rest is announced to the writers as if it had been drained just now
// (docs/design/ring.md, section 1).
#pragma once

#include <cstddef>
#include <cstdint>

#include "abi/layout.h"

namespace blip::ring {

// Positions of each ring: writing starts at `start`, and what is below `end` has memory. `end` is that of a
// sub-buffer.
struct FirstRoom {
  uint64_t start = 0;
  uint64_t end = 0;

  bool operator==(const FirstRoom&) const = default;
};

// For so many rings in use.
FirstRoom first_room(const abi::Geometry& geometry, size_t rings);

// Prepares a ring in a formatted region that no pad leads to yet. `pid` is the process whose records come
// first.
void start_with(const FirstRoom& room, const abi::Geometry& geometry, int32_t pid, abi::RingControl& control);

// Writers may use what is below `end` from now on; until all of a ring has its memory, nobody else stores
// `consumed`.
void announce_room(const abi::Geometry& geometry, uint64_t end, abi::RingControl& control);

}  // namespace blip::ring
