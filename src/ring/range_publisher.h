// SPDX-License-Identifier: MIT
// blip's half of the valid ranges: publishes what it saw mapped, unless a call that takes memory away began
// since. What the target wrote into the region is believed only as far as the target itself is harmed by a
// lie.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "abi/layout.h"
#include "base/addr.h"

namespace blip::ring {

class RangePublisher {
 public:
  RangePublisher(const abi::Geometry& geometry, uint8_t* region);

  // The state before a look at the process's memory.
  struct Look {
    uint64_t word = 0;
  };
  // To be taken before the look. None: calls are under way (or were left for ever), or it is over for good.
  std::optional<Look> begin() const;

  // Ascending and apart; what does not fit into a table is left out. `heap_end`: where the memory that brk
  // manages ends. False: a call began meanwhile; nothing is published.
  bool publish(const Look& look, std::span<const AddrRange> ranges, TargetAddr heap_end);

  // Reads outside of all ranges so far: where it grows, publishing anew may help.
  uint64_t misses() const;
  bool is_closed() const;

 private:
  abi::RangeControl* control_;
};

}  // namespace blip::ring
