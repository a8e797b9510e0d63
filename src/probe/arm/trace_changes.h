// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/addr.h"
#include "base/result.h"
#include "probe/arm/trace_parts.h"
#include "probe/code/module.h"
#include "probe/patch/pads.h"
#include "proc/files/maps.h"

namespace blip::probe {

// Puts probes into a target that is being traced, and takes single ones out. What is armed goes on meanwhile.
// See Instrumentation for what each of them promises.
class TraceChanges {
 public:
  explicit TraceChanges(TraceParts& trace) : trace_(trace) {}

  static Status check_room(const TraceParts& trace, size_t probes);
  Status add(std::span<const proc::Map> mapped, std::span<const Module> modules, ModuleSites sites,
             std::vector<Probe> probes);
  Status remove(size_t probe);
  Status revive(AddrRange library, const void* file, std::span<const proc::Map> mapped);

 private:
  Status add_batch(std::span<const proc::Map> mapped, std::span<const Module> modules, ModuleSites sites);
  Status install(std::span<const proc::Map> mapped);
  Result<bool> restore(size_t patch);

  TraceParts& trace_;
};

}  // namespace blip::probe
