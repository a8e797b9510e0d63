// SPDX-License-Identifier: MIT
#pragma once

#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "probe/arm/arm_options.h"
#include "probe/arm/arm_report.h"
#include "probe/arm/arming_stage.h"
#include "probe/arm/batch.h"
#include "probe/arm/mark_semaphores.h"
#include "probe/arm/pad_facts.h"
#include "probe/arm/stops.h"
#include "probe/arm/trace_memory.h"
#include "probe/arm/trap_support.h"
#include "probe/arm/watched_calls.h"
#include "probe/code/module.h"
#include "probe/patch/patch_set.h"
#include "probe/patch/trace_probes.h"
#include "proc/files/memory.h"
#include "proc/files/process.h"

namespace blip::probe {

// What a trace consists of in one process. Each part keeps its own order; arming and changing a trace are
// steps over several of them, in classes of their own (Arming, Installer, TraceChanges).
struct TraceParts {
  TraceParts(const proc::Process& of, proc::Memory& memory_of, std::span<const Module> known,
             std::vector<Probe> wanted, const ArmOptions& options)
      : process(of),
        target(memory_of),
        modules(known),
        memory(of, memory_of, known, options),
        probes(std::move(wanted), {.count = options.spare_probes, .asks_kernel = options.spares_ask_kernel}),
        calls(of, known, options.modules_complete),
        traps(of, memory_of),
        facts(options, probes, calls, memory),
        stops(of, memory_of, options.max_pause, report),
        stop(options.stop) {}
  TraceParts(const TraceParts&) = delete;
  TraceParts& operator=(const TraceParts&) = delete;

  bool wants_to_stop() const { return stop && stop->requested(); }
  Status check_stop() const { return stop ? stop->check() : Status(); }

  const proc::Process& process;
  proc::Memory& target;
  const std::span<const Module> modules;
  TraceMemory memory;
  TraceProbes probes;
  PatchSet patches;
  WatchedCalls calls;
  TrapSupport traps;
  MarkSemaphores semaphores;
  PadFacts facts;
  std::deque<Batch> batches;  // patches point into them
  ArmReport report;
  Stops stops;
  ArmingStage stage;
  const StopRequest* const stop;
};

}  // namespace blip::probe
