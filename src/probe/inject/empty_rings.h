// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "abi/layout.h"
#include "probe/inject/ring_filler.h"
#include "ring/first_room.h"

namespace blip::probe {

// Gives the memory of the rings back, but for records that are not drained yet. The target does not stop for
// that: its page tables lose the pages from outside, so that the stop that takes the mapping away is short,
// whatever the size of the buffers. Nobody may write to the rings any more, in no process.
// `growing`: where writing began, if the rings did not get all of their memory.
void empty_rings(const abi::Geometry& geometry, const RegionView& region,
                 const std::optional<ring::FirstRoom>& growing = std::nullopt);

// Whether the rings are so large that a stop would be seen to be longer by them.
bool are_rings_large(const abi::Geometry& geometry);

}  // namespace blip::probe
