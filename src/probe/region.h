// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <vector>

#include "abi/layout.h"
#include "base/addr.h"
#include "base/fd.h"
#include "base/mapping.h"
#include "base/result.h"
#include "probe/pads.h"
#include "proc/maps.h"
#include "proc/process.h"
#include "proc/remote_call.h"

namespace blip::probe {

// An area of pads: R-X in the target at `range`, writable here at `offset` of the pads mapping.
struct AreaMapping {
  AddrRange range;
  uint64_t offset = 0;
};

// The memory a trace has in its target: two sealed memfds (pads and data), mapped on both sides, and the
// private gate page right below the data. No descriptor of them stays in the target. See
// docs/design/injection.md.
struct TargetRegion {
  Mapping data;  // here
  Mapping pads;  // here, writable
  Fd data_fd;
  TargetAddr control;  // of the data in the target
  std::vector<AreaMapping> areas;

  // Maps everything; on an error nothing is left. The data's pages are not there yet: see allocate().
  static Result<TargetRegion> map(proc::RemoteCaller& caller, const proc::Process& process,
                                  const abi::Geometry& geometry,
                                  std::span<const Neighbourhood> neighbourhoods);

  // Gets the memory of live_parts(): the target must not die for want of it.
  Status allocate(const abi::Geometry& geometry) const;
};

// A part of the data region.
struct RegionPart {
  uint64_t offset = 0;
  uint64_t size = 0;
};

// What the target may write to: all but the rings of CPUs that are offline.
Result<std::vector<RegionPart>> live_parts(const abi::Geometry& geometry);

// What of the target's memory belongs to a trace.
struct Footprint {
  TargetAddr control;
  uint64_t data_size = 0;
  bool has_gate = true;  // a blip may have been killed before it was mapped
  std::vector<AddrRange> areas;

  bool in_pads(TargetAddr a) const {
    for (const AddrRange& r : areas)
      if (r.contains(a)) return true;
    return false;
  }
};

// Tells one pid namespace from another.
uint32_t own_pid_namespace();

// Takes the mappings away: pads, gate page and, last, the data, by which a later blip finds what is left.
Status unmap_footprint(proc::RemoteCaller& caller, const Footprint& footprint);

}  // namespace blip::probe
