// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "abi/layout.h"
#include "base/addr.h"
#include "base/fd.h"
#include "base/mapping.h"
#include "base/result.h"
#include "probe/inject/parking.h"
#include "probe/patch/pads.h"
#include "probe/patch/trampolines.h"
#include "proc/files/maps.h"
#include "proc/files/process.h"
#include "proc/remote_call.h"
#include "ring/first_room.h"

namespace blip::probe {

// An area of pads: R-X in the target at `range`, writable here at `offset` of the file's mapping.
struct AreaMapping {
  AddrRange range;
  uint64_t offset = 0;
};

// A sealed memfd with pads and trampolines, or with tables.
struct PadFile {
  Mapping bytes;  // here, writable
  uint64_t inode = 0;
  std::vector<AreaMapping>
      areas;  // one per neighbourhood, in their order, with the spare room if there is a place
  TrampolineLayout trampolines;     // without the runs whose place was taken
  uint64_t trampolines_offset = 0;  // of the first frame
};

// The sizes of a trace's memory that forks copy.
struct PrivateSizes {
  uint64_t traps = 0;
  uint64_t shadow = 0;
  uint32_t semaphores = 0;
};

// The size of what the target only reads: unwind tables.
struct TableSize {
  uint64_t bytes = 0;  // whole pages; 0: none
};

// A part of the data region.
struct RegionPart {
  uint64_t offset = 0;
  uint64_t size = 0;
};

// System calls that are made together with those that map the memory, and cost no stop of their own.
struct AlsoCalled {
  std::function<void(proc::CallList& list, TargetAddr control)> add{};  // may be called again
  proc::CallList made{};
};

// The memory a trace has in its target: sealed memfds (data; pads, one for each time probes were put in),
// mapped on both sides, the private gate page right below the data, and below that the memory of traps. No
// descriptor of them stays in the target. See docs/design/injection.md.
struct TargetRegion {
  Mapping data;  // here
  Fd data_fd;
  TargetAddr control;              // of the data in the target
  uint64_t trap_size = 0;          // private memory below the gate page that forks copy; 0: none
  uint64_t shadow_size = 0;        // and below that; 0: none
  uint32_t semaphore_size = 0;     // and below that; 0: none
  std::vector<PadFile> pad_files;  // the first has the tables, if there are any
  bool has_tables = false;

  const PadFile* tables() const { return has_tables ? &pad_files.front() : nullptr; }

  // Maps data, gate page and pads; on an error nothing is left. The data's pages are not there yet: see
  // allocate(). `maps`: of the target, of a moment ago; what is there is left alone.
  static Result<TargetRegion> map(proc::RemoteCaller& caller, const proc::Process& process,
                                  std::span<const proc::Map> maps, const abi::Geometry& geometry,
                                  std::span<const Neighbourhood> neighbourhoods,
                                  const TrampolineLayout& trampolines, PrivateSizes sizes, TableSize tables,
                                  AlsoCalled& also);
  // Maps further pads; on an error nothing is left of them.
  static Result<PadFile> map_pads(proc::RemoteCaller& caller, const proc::Process& process,
                                  std::span<const proc::Map> maps,
                                  std::span<const Neighbourhood> neighbourhoods,
                                  const TrampolineLayout& trampolines);

  // Gets the memory of the parts: nobody must die for want of it.
  Status allocate(std::span<const RegionPart> parts) const;
};

// Memory that the target may write to from the first hit on: all but what only blip writes (the site table, the
// list of pad files), the rings of CPUs that are offline, what comes later of the others, and the counters and
// histograms of classes from `live_classes` on, which nobody has yet.
std::vector<RegionPart> live_parts(const abi::Geometry& geometry, const ring::FirstRoom& room,
                                   std::span<const unsigned> online, uint32_t live_classes);
// The counters of some classes.
std::vector<RegionPart> counter_parts(const abi::Geometry& geometry, uint32_t first, uint32_t last);
// The histograms of some classes; empty: there are none.
std::vector<RegionPart> histogram_parts(const abi::Geometry& geometry, std::span<const unsigned> online,
                                        uint32_t first, uint32_t last);

// The parts of the target's memory that belong to a trace.
struct Footprint {
  TargetAddr control;
  uint64_t data_size = 0;
  bool has_gate = true;          // a blip may have been killed before it was mapped
  uint64_t trap_size = 0;        // below the gate page; 0: no traps
  uint64_t shadow_size = 0;      // below that; 0: no returns
  uint64_t semaphore_size = 0;   // below that; 0: no static marks
  std::vector<AddrRange> areas;  // of pads and trampolines, sorted
  Parking parking = Parking::kUnknown;

  uint64_t below() const {
    return semaphore_size + shadow_size + trap_size + (has_gate ? abi::kGatePageSize : 0);
  }
  TargetAddr trap_table() const { return control - abi::kGatePageSize - trap_size; }
  AddrRange semaphores() const {
    const TargetAddr begin = control - below();
    return {begin, begin + semaphore_size};
  }
  bool in_pads(TargetAddr a) const;
};

// Of areas that may touch each other, in any order.
std::vector<AddrRange> merge_ranges(std::vector<AddrRange> ranges);

// Tells one pid namespace from another.
uint32_t own_pid_namespace();

// Takes the mappings away: pads, gate page and, last, the data, by which a later blip finds what is left.
// `maps` is empty, or what is mapped while all threads stand still: then pads with nothing but free pages
// between them go together.
Status unmap_footprint(proc::RemoteCaller& caller, const Footprint& footprint,
                       std::span<const proc::Map> maps = {});

}  // namespace blip::probe
