// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "base/result.h"
#include "probe/arm/instrumentation.h"
#include "session/drain/call_totals.h"
#include "session/drain/event_drain.h"
#include "session/drain/region_schema.h"
#include "session/process/summary.h"

namespace blip::session {

// What brings the hits in one process to blip: pads and rings in the process itself, or uprobes in the
// kernel. The destructor leaves the process, and its children, as they were.
class EventSource {
 public:
  virtual ~EventSource() = default;

  virtual const probe::ArmReport& report() const = 0;
  virtual EventDrain& events() = 0;
  // Counting: how often the probes of a class were hit.
  virtual uint64_t class_hits(uint32_t class_id) const = 0;
  // How the calls of a function whose returns are probed went; in units of the clock if counting, else in ns.
  // `frame_class`: the one its calls are remembered for.
  virtual CallTotals class_calls(uint32_t /*class_id*/, uint32_t /*frame_class*/) const { return {}; }
  // abi::kUnpaired
  virtual uint64_t unpaired_calls(uint32_t) const { return 0; }

  // For the blip that finds the process, should this one be killed. False: there is no room for it.
  virtual bool describe(const RegionSchema&) { return true; }

  // Restores the process. Once it has ended or called exec there is nothing to restore.
  virtual Result<probe::RemovalReport> disarm() = 0;
  virtual void target_is_gone() {}

  // The same for children that forks gave a copy of the probes, if they are followed.
  virtual void disarm_children(Summary&) {}
  virtual bool children_live() { return false; }
  virtual int child_pidfd() const { return -1; }
  virtual bool shares(pid_t) const { return false; }
};

// What the user must know of a removal.
void tell_removal(pid_t pid, const Result<probe::RemovalReport>& removed, Summary& summary);

}  // namespace blip::session
