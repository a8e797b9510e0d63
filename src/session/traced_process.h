// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "probe/arm/range_feed.h"
#include "probe/code/module.h"
#include "probe/inject/leftovers.h"
#include "probe/patch/plan.h"
#include "proc/files/memory.h"
#include "proc/files/process.h"
#include "session/armed.h"
#include "session/event_source.h"
#include "session/plan/classes.h"
#include "session/plan/environment.h"
#include "session/plan/probe_plan.h"
#include "session/plan/targets.h"
#include "session/statedump.h"
#include "session/summary.h"
#include "session/symbolize/debug_store.h"
#include "session/symbolize/frame_names.h"
#include "session/symbolize/unwind_tables.h"
#include "session/watch/library_watch.h"
#include "session/watch/loader_watch.h"

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
  uint32_t subbuf_size;       // of each process
  bool rings_unused = false;  // those of the CPUs: no thread has restartable sequences yet
  probe::ModuleFiles files;
  DebugStore debug;
  EventLimit limit;
  LifeRecords* lives = nullptr;  // where pads' records about lives go; null: nobody asks for them
  uint64_t latency_rate =
      0;  // ns per unit of the records' clock, times 2^ClockSegment::kShift; 0: not yet known
};

// What of a process is to be probed: by default everything the user asked for.
struct PlanScope {
  std::function<bool(const probe::Module&)> only;  // modules that count; empty: all
  bool part_will_do = false;                       // requests without a match are left out, not refused
};

// What looking for libraries that came or went tells.
struct LibraryHooks {
  std::function<void(const std::string&)> notice;
  std::function<Status()> before_events;  // of new classes
};

class PadSource;

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
  // Of events of classes that many places share, while they are shown live.
  const PlaceTable& place_names() const { return places_shown_; }
  // Pads in it tell who is born and who ends.
  bool tells_lives() const { return pads_ && context_.lives; }
  // True once.
  bool is_unwatched() { return !std::exchange(watched_, true); }
  // Names what its backtraces show.
  FrameNames& frame_names();
  // Whether they are those of an event of that time.
  bool names_hold(uint64_t address, uint64_t time_ns) const;
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
  EventDrain& events() { return source_->events(); }

  // Whether the process, and every child that shares its memory, has ended or called exec; kTargetExec if the
  // process itself did. Cheap while the process lives.
  std::optional<End> gone();
  // Something to poll(2) that becomes readable when a process ends: negative if there is nothing.
  int poll_fd() const;
  bool shares(pid_t pid) const { return source_->shares(pid); }

  // Arms what has been loaded since the last look, forgets what has gone (traced_libraries.cc).
  void look_at_libraries(const LibraryHooks& hooks);
  // Nothing matches yet, but may when a library comes.
  bool waits_for_libraries() const { return plan_.targets.empty(); }
  // Something matches the request, or it names a library that may come.
  bool means(size_t request) const;
  // To poll(2): readable when it waits for that; negative if it never does.
  int libraries_fd() const { return loader_ ? loader_->fd() : -1; }

  // To be called often: what programs can read without asking the kernel. A value: that has come to an end,
  // and why (how_memory_is_read.cc).
  std::optional<std::string> refresh_ranges();

  // Restores the process and its children. False: a thread is inside a probe, and the memory stays.
  bool disarm(Summary& summary);
  // Counting: adds the hits of each armed function to its class's entry, [class id - 1].
  void add_hits(std::vector<std::optional<uint64_t>>& hits) const;
  // The same for how the calls of functions went whose returns are probed.
  void add_calls(std::vector<std::optional<CallTotals>>& calls) const;
  // Calls that were skipped, of probes that share them with others: not among the drain's totals.
  uint64_t lost_with_others() const;

 private:
  TracedProcess(proc::Process process, proc::Memory memory, TraceContext& context)
      : process_(std::move(process)), memory_(std::move(memory)), context_(context) {}

  Status make_plan(const PlanScope& scope);
  Result<probe::PlanOptions> plan_options() const;
  Status check_histograms(size_t functions) const;
  void measure_clock();
  void find_lives(const PlanScope& scope);
  std::optional<jit::Births> births() const;
  Status resolve(const PlanScope& scope, const probe::ResolveContext& where);
  void tell_where_found();
  bool may_be_empty(const PlanScope& scope) const;
  RequestMask present_requests(const PlanScope& scope, const probe::ResolveContext& where) const;
  Status check_number(size_t more) const;
  bool asks_for_returns() const;
  bool asks_for_stacks() const;
  void update_stacks(uint64_t most, const LibraryHooks& hooks);
  void tell_changes(const LibraryNews& news);
  void name_places(const ProbePlan& plan);
  void tell_places(uint64_t time_ns);
  void change_names(const LibraryNews& news);
  std::vector<probe::Module> modules_now() const;
  std::vector<uint32_t> armed_classes() const;
  uint32_t frame_class(uint32_t id) const;
  bool asks_for_threads() const;
  size_t most_classes() const;
  uint64_t shared_ring_size() const;
  abi::Geometry geometry(uint32_t largest_record) const;
  Result<std::unique_ptr<EventSource>> make_source(uint32_t largest_record);
  // how_memory_is_read.cc
  bool reads_memory() const;
  void feed_ranges();
  std::string how_memory_is_read() const;
  bool has_left();
  // traced_libraries.cc
  void find_late_requests();
  bool is_in_executable(size_t request) const;
  void watch_libraries(const std::vector<proc::Map>& maps);
  void hold_loader();
  size_t late_targets() const;
  size_t late_histograms() const;
  uint32_t spare_classes() const;
  uint32_t spare_probes() const;
  void compare_libraries(bool loader_waits, const LibraryHooks& hooks);
  bool is_filtered() const;
  void tell_elsewhere(const LibraryHooks& hooks);
  void arm_libraries(const std::vector<CodeFile>& came, const LibraryHooks& hooks);
  Status arm_some(std::span<const CodeFile> libraries, const LibraryHooks& hooks);
  void tell_unarmed(const CodeFile& library, const Error& error, const LibraryHooks& hooks);
  Status arm_plan(ProbePlan& plan, std::span<const proc::Map> mapped, const LibraryHooks& hooks);
  void tell_armed(const ProbePlan& plan, const LibraryHooks& hooks) const;
  void revive(const CodeFile& library, const LibraryHooks& hooks);

  proc::Process process_;
  proc::Memory memory_;
  TraceContext& context_;
  std::vector<std::string> notes_;
  std::vector<std::string> remarks_;
  ProbePlan plan_;
  bool modules_complete_ = false;
  probe::KeptMemory kept_;     // of earlier blips
  RequestMask late_requests_;  // that may match a library that comes later; empty: none may
  std::optional<LibraryWatch> libraries_;
  std::optional<UnwindTables> stacks_;  // where somebody asks for them
  std::optional<FrameNames> names_;
  std::vector<AddrRange> gone_files_;                       // whose names stay
  std::vector<std::pair<AddrRange, uint64_t>> named_anew_;  // where another file came, and when
  const Statedump* statedump_ = nullptr;
  std::unique_ptr<ctf::StreamWriter> module_stream_;
  std::vector<PlaceName> place_names_;  // that the trace is to be told
  PlaceTable places_shown_;
  std::deque<ProbePlan> late_plans_;
  std::vector<probe::Module> planned_;  // modules that plans were made for, there or gone
  RegionSchema schema_;
  std::unique_ptr<EventSource> source_;
  PadSource* pads_ = nullptr;               // the source, if it is one
  std::optional<probe::RangeFeed> ranges_;  // of programs that read memory
  std::optional<LoaderWatch> loader_;
  std::chrono::steady_clock::time_point loader_changed_{};
  uint32_t elsewhere_ = 0;  // changes of libraries in children
  bool told_elsewhere_ = false;
  bool disarmed_ = false;
  bool watched_ = false;
  std::optional<End> left_;  // the process itself has gone
};

}  // namespace blip::session
