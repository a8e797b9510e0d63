// SPDX-License-Identifier: MIT
// Bounds on how much is armed in one process, and the room that is set aside there for libraries that come later.
#pragma once

#include <cstddef>
#include <cstdint>

#include "abi/layout.h"
#include "base/result.h"
#include "session/plan/options.h"
#include "session/plan/targets.h"

namespace blip::session {

// Fails if the user has to allow so many probes first.
Status check_number(const Options& options, size_t targets);
// Fails if the histograms of so many functions would take too much memory.
Status check_histograms(const Options& options, size_t functions);
// Returns how many classes the region of a process has room for.
size_t most_classes(const Options& options);

struct SpareRoom {
  uint32_t classes = 0;
  uint32_t probes = 0;
};

// `late`: the requests that a library may match; empty: none. `targets`: how many probes are planned already.
// `classes`: how many the trace has.
SpareRoom spare_room(const Options& options, const RequestMask& late, size_t targets, size_t classes);

// What the region of one process must hold.
struct RegionNeeds {
  uint32_t classes = 0;  // also those that may come
  uint32_t largest_record = 0;
  uint32_t subbuf_size = 0;
  bool rings_unused = false;  // those of the CPUs: no thread has restartable sequences yet
  bool reads_memory = false;
  bool walks_stacks = false;
};

abi::Geometry region_geometry(const Options& options, const RegionNeeds& needs);

}  // namespace blip::session
