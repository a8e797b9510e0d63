// SPDX-License-Identifier: MIT
// What the rings of a killed blip still hold, as a trace.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "abi/layout.h"
#include "base/mapping.h"
#include "base/result.h"
#include "probe/inject/left_region.h"
#include "proc/files/memory.h"
#include "session/drain/region_schema.h"

namespace blip::session {

// A copy of a region, of which everything was checked that the readers rely on.
struct SavedRegion {
  Mapping bytes;
  abi::Geometry geometry;
  RegionSchema schema;
};

// Nothing if the region holds no records: it was for counting, or never armed. To be called while no thread
// of the process can write to it.
Result<std::optional<SavedRegion>> copy_region(const proc::Memory& memory, const probe::LeftRegion& region);

struct SavedTrace {
  std::string dir;
  uint64_t events = 0;
  uint64_t discarded = 0;  // since the probes were armed
  uint64_t skipped = 0;    // likewise
  std::string killed_dir;  // where the events before these are; empty: nowhere
};

// Writes the records that are not in the killed blip's trace to a trace of their own in `dir`. What that blip
// wrote and did not live to note is cut off its trace: each event is in one of the two.
Result<SavedTrace> save_trace(SavedRegion region, pid_t pid, const std::string& dir);

}  // namespace blip::session
