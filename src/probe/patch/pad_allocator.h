// SPDX-License-Identifier: MIT
// Room for pads: areas of it are mapped near the code that they serve, larger than what they are mapped for, so that most pads
// that come later find room without a further mapping, and without the stop that this takes. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/addr.h"
#include "probe/patch/pads.h"

namespace blip::probe {

// A part of a pad file, as the target has it mapped.
struct PadRoom {
  AddrRange range;
  size_t file = 0;      // its number
  uint64_t offset = 0;  // in the file
};

class PadAllocator {
 public:
  // A room that has been mapped, of which the first `used` bytes are taken.
  void add(const PadRoom& room, uint64_t used);

  // Takes room for all of the areas, each within its reach: by neighbourhood. nullopt: there is not enough for all of them,
  // and nothing is taken.
  std::optional<std::vector<PadRoom>> take(std::span<const Neighbourhood> areas);

  // How much more than `size` bytes a new area should have: the more pads there are already, the more are likely to come.
  uint64_t spare_for(uint64_t size) const;

 private:
  static std::optional<PadRoom> take_from(std::vector<PadRoom>& free, const Neighbourhood& area);

  std::vector<PadRoom> free_;
  uint64_t used_ = 0;  // bytes
};

}  // namespace blip::probe
