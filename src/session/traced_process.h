// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "probe/leftovers.h"
#include "probe/module.h"
#include "probe/plan.h"
#include "proc/memory.h"
#include "proc/process.h"
#include "session/classes.h"
#include "session/environment.h"
#include "session/event_source.h"
#include "session/return_points.h"
#include "session/session.h"
#include "session/targets.h"

namespace blip::session {

// What the processes of one trace share.
struct TraceContext {
  explicit TraceContext(const Options& o)
      : options(o),
        classes(o),
        clock(ctf::HostClocks{records_monotonic_time(o)}),
        subbuf_size(o.subbuf_size) {}

  const Options& options;
  ClassTable classes;
  ctf::TscClock clock;
  uint32_t subbuf_size;  // of each process
  probe::ModuleFiles files;
  EventLimit limit;
  uint64_t latency_rate =
      0;  // ns per unit of the records' clock, times 2^ClockSegment::kShift; 0: not yet known
};

// What of a process is to be probed: by default everything the user asked for.
struct PlanScope {
  std::function<bool(const probe::Module&)> only;  // modules that count; empty: all
  bool part_will_do = false;                       // requests without a match are left out, not refused
};

// One process with its probes, from plan to detach, and the children that forks gave a copy of them. Whatever
// happens after arm(), the destructor leaves them as they were.
class TracedProcess {
 public:
  // Looks at the process and decides what would be patched; nothing is changed in it.
  static Result<std::unique_ptr<TracedProcess>> plan(proc::Process process, TraceContext& context,
                                                     const PlanScope& scope = {});
  // Stops it and arms. On an error nothing is left in the target.
  Status arm();
  ~TracedProcess();

  const proc::Process& process() const { return process_; }
  // SYMBOL+0xOFF; empty if no function is known there.
  std::string place_of(TargetAddr address) const;
  // Adds what arm() did to the session's report.
  void report(Armed& armed) const;
  // Where the trace goes, for the blip that finds the process, should this one be killed.
  void tell_output(const ctf::TraceInfo& info, const ctf::Uuid& uuid, const std::string& dir,
                   const std::string& prefix);
  Consumer& consumer() { return source_->consumer(); }

  // Whether the process, and every child that shares its memory, has ended or called exec; kTargetExec if the
  // process itself did. Cheap while the process lives.
  std::optional<End> gone();
  // Something to poll(2) that becomes readable when a process ends: negative if there is nothing.
  int poll_fd() const;
  bool shares(pid_t pid) const { return source_->shares(pid); }

  // Restores the process and its children. False: a thread is inside a probe, and the memory stays.
  bool disarm(Summary& summary);
  // Counting: adds the hits of each armed function to its class's entry, [class id - 1].
  void add_hits(std::vector<std::optional<uint64_t>>& hits) const;
  // The same for how the calls of functions went whose returns are probed.
  void add_calls(std::vector<std::optional<CallTotals>>& calls) const;

 private:
  TracedProcess(proc::Process process, proc::Memory memory, TraceContext& context)
      : process_(std::move(process)), memory_(std::move(memory)), context_(context) {}

  Status make_plan(const PlanScope& scope);
  Status plan_pads(const std::vector<proc::Map>& maps);
  void plan_module(size_t module, const probe::PlanOptions& options, x86::TrampolineSpace& space);
  bool refuse_broken_groups();
  Status check_histograms(size_t functions) const;
  void measure_clock();
  Status resolve(const PlanScope& scope, const probe::ResolveContext& where);
  bool needs_name(const Target& target) const;
  Status check_number() const;
  Error all_refused() const;
  bool asks_for_returns() const;
  std::vector<std::string> all_refusals() const;
  std::vector<uint32_t> armed_classes() const;
  size_t most_classes() const;
  abi::Geometry geometry(uint32_t largest_record) const;
  void plan_uprobes();
  Result<std::unique_ptr<EventSource>> make_source(uint32_t largest_record);
  bool has_left();

  proc::Process process_;
  proc::Memory memory_;
  TraceContext& context_;
  std::vector<std::string> notes_;
  std::vector<probe::Module> modules_;
  bool modules_complete_ = false;
  std::vector<Target> targets_;
  probe::KeptMemory kept_;                    // of earlier blips
  std::vector<std::string> target_refusals_;  // by target, empty: it can be armed
  std::vector<ProbePoint> points_;            // what is patched for them
  std::vector<Refusal> refused_;              // what is not even a target
  probe::ModuleSites sites_;
  std::vector<probe::Probe> probes_;  // one per point
  RegionSchema schema_;
  std::unique_ptr<EventSource> source_;
  bool disarmed_ = false;
  std::optional<End> left_;  // the process itself has gone
};

}  // namespace blip::session
