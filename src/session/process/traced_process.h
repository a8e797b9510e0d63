// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "session/plan/probe_room.h"
#include "session/process/armed.h"
#include "session/process/armed_plans.h"
#include "session/process/direct_reads.h"
#include "session/process/late_libraries.h"
#include "session/process/process_names.h"
#include "session/process/process_plan.h"
#include "session/process/target_process.h"
#include "session/process/trace_context.h"

namespace blip::session {

// One process as a trace sees it, from plan to detach: what the trace asks for there, what became of it, and what
// its events are called. Everything that is in the process itself belongs to the TargetProcess.
class TracedProcess {
 public:
  // Looks at the process and decides what would be patched; nothing is changed in it.
  static Result<std::unique_ptr<TracedProcess>> plan(proc::Process process, TraceContext& context,
                                                     const PlanScope& scope = {});
  // Stops it and arms. On an error nothing is left in the target.
  Status arm();

  TargetProcess& target() { return *target_; }
  const proc::Process& process() const { return target_->process(); }
  EventDrain& events() { return target_->source().events(); }

  // SYMBOL+0xOFF; empty if no function is known there.
  std::string place_of(TargetAddr address) const { return plans_.place_of(address); }
  const ProcessNames& names() const { return names_; }
  // Names what its backtraces show.
  FrameNames& frame_names();
  // Pads in it tell who is born and who ends.
  bool tells_lives() const { return target_->pads() && context_.lives; }
  // True once.
  bool is_unwatched() { return !std::exchange(watched_, true); }
  // From now on the trace is told which files are mapped, those that are there at once. `statedump` outlives
  // the process.
  void tell_modules(const Statedump& statedump, std::unique_ptr<ctf::StreamWriter> stream);
  // The same for a child that was forked: its files are what the process has now.
  void tell_child(int32_t vpid);
  // Adds what arm() did to the session's report.
  void report(Armed& armed) const;
  // Where the trace goes, for the blip that finds the process, should this one be killed.
  void tell_output(const ctf::TraceInfo& info, const ctf::Uuid& uuid, const std::string& dir,
                   const std::string& prefix);

  // Arms what has been loaded since the last look, forgets what has gone.
  void look_at_libraries(const LibraryHooks& hooks);
  // Nothing matches yet, but may when a library comes.
  bool waits_for_libraries() const { return plan_.probes.targets.empty(); }
  // Something matches the request, or it names a library that may come.
  bool means(size_t request) const { return plan_.means(context_.options, request); }
  // To poll(2): readable when it waits for that; negative if it never does.
  int libraries_fd() const { return libraries_ ? libraries_->fd() : -1; }

  // To be called often: what programs can read without asking the kernel. A value: that has come to an end,
  // and why.
  std::optional<std::string> refresh_ranges();

  // See TargetProcess.
  bool disarm(Summary& summary);
  // What was armed, and what came of it.
  const ArmedPlans& plans() const { return plans_; }

 private:
  TracedProcess(std::unique_ptr<TargetProcess> target, ProcessPlan plan, TraceContext& context);

  std::vector<probe::Module> modules_now() const;
  Result<uint32_t> add_classes();
  void measure_clock();
  Status arm_uprobes(uint64_t ring_size, const DrainInput& input);
  Status arm_pads(abi::Geometry geometry, const SpareRoom& spare, const DrainInput& input);
  void hold_loader();
  size_t count_traps(const std::vector<std::string>& refusals) const;

  TraceContext& context_;
  std::unique_ptr<TargetProcess> target_;
  ProcessPlan plan_;
  ArmedPlans plans_{plan_.probes};
  std::optional<UnwindTables> stacks_;  // where somebody asks for them
  ProcessNames names_;
  RegionSchema schema_;
  std::optional<LateLibraries> libraries_;
  std::optional<DirectReads> reads_;  // of programs that read memory
  probe::KeptMemory kept_;            // of earlier blips
  bool watched_ = false;
};

}  // namespace blip::session
