// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>

#include "base/stop.h"
#include "ctf/clock.h"
#include "probe/code/module.h"
#include "session/drain/recording_sink.h"
#include "session/plan/classes.h"
#include "session/plan/environment.h"
#include "session/plan/options.h"
#include "session/symbolize/debug_store.h"
#include "session/watch/life_record.h"

namespace blip::session {

// The processes of one trace share this.
struct TraceContext {
  // All of it outlives this.
  TraceContext(const Options& o, StopRequest& s)
      : options(o),
        stop(s),
        classes(o),
        clock(ctf::HostClocks{records_monotonic_time(o)}),
        subbuf_size(o.subbuf_size),
        debug(&s) {}

  const Options& options;
  StopRequest& stop;
  ClassTable classes;
  ctf::TscClock clock;
  uint32_t subbuf_size;       // of each process
  bool rings_unused = false;  // those of the CPUs: no thread has restartable sequences yet
  probe::ModuleFiles files;
  DebugStore debug;
  EventLimit limit;
  LifeRecords* lives = nullptr;  // where pads' records about lives go; null: nobody asks for them
  uint64_t latency_rate =
      0;  // ns per unit of the records' clock, times 2^ClockSegment::kShift; 0: not yet known
};

// Which part of a process is to be probed: by default everything the user asked for.
struct PlanScope {
  std::function<bool(const probe::Module&)> only;  // modules that count; empty: all
  bool part_will_do = false;                       // requests without a match are left out, not refused
};

}  // namespace blip::session
