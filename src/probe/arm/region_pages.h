// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "abi/layout.h"
#include "base/result.h"
#include "probe/inject/region.h"
#include "probe/inject/ring_filler.h"
#include "proc/files/memory.h"
#include "ring/first_room.h"

namespace blip::probe {

// Which parts of a trace's data have memory. What the first hits write to has it before there are any; the
// rest of the rings gets it while the target is traced, and what is for probes that come later when they do.
class RegionPages {
 public:
  // Counters and histograms of classes from `live_classes` on are for later.
  explicit RegionPages(uint32_t live_classes) : live_classes_(live_classes) {}

  // Memory for all hits of what is armed first, and for so many entries of the site table.
  Status allocate_first(const TargetRegion& region, const abi::Geometry& geometry, size_t sites);
  // Page tables of the target are filled, so that the first pads do not fault.
  void populate(const TargetRegion& region, const abi::Geometry& geometry, const proc::Memory& target) const;
  // Counters and histograms of classes before `classes`, and entries of the site table behind the `used` ones.
  Status allocate_more(const TargetRegion& region, const abi::Geometry& geometry, uint32_t classes,
                       size_t used, size_t sites);
  // `owner` writes into all rings.
  void start_rings(uint8_t* region, const abi::Geometry& geometry, pid_t owner) const;
  // The rest of the rings: the target does not wait for it.
  void fill_rings(const TargetRegion& region, const abi::Geometry& geometry, const proc::Memory& target);
  void stop_filling();
  // Null: the rings have all of their memory.
  const RingFiller* filler() const { return filler_.get(); }
  // Where writing began, while rings have not all of their memory.
  std::optional<ring::FirstRoom> growing() const;

 private:
  uint32_t live_classes_;
  std::vector<unsigned> online_;  // CPUs
  ring::FirstRoom room_;
  std::vector<RegionPart> live_;
  std::unique_ptr<RingFiller> filler_;
};

}  // namespace blip::probe
