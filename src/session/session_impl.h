// SPDX-License-Identifier: MIT
// The inside of a Session: the members are in session_start.cc, session_output.cc, session_loop.cc and
// session_end.cc.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "proc/command_signals.h"
#include "session/drain/live_merge.h"
#include "session/lifecycle.h"
#include "session/session.h"
#include "session/spawn.h"
#include "session/statedump.h"
#include "session/traced_process.h"
#include "session/watch/family.h"

namespace blip::session {

using Clock = std::chrono::steady_clock;

// Of the one session a process has: used by signal handlers.
inline proc::CommandSignals current_command;

constexpr std::chrono::milliseconds kLookForProcesses{100};
constexpr int kTriesWhileWaiting = 20;
constexpr uint64_t kMaxRingSize = uint64_t{1} << 30;

struct Session::Impl {
  explicit Impl(const Options& o) : options(o), context(options) {
    if (options.max_events) context.limit.most = *options.max_events;
    if (options.lifecycle || options.follow_exec) family.emplace(options.follow_fork);
    if (options.mode == Mode::kRecord) statedump.emplace(context.classes);
    if (options.lifecycle) {
      lifecycle.emplace(context.classes, options.follow_fork);
      context.lives = &lifecycle->records();
    }
  }
  ~Impl() { current_command.forget(); }

  Status start(const std::function<void()>& waiting);
  Status start_by_name(const std::function<void()>& waiting);
  Status start_command();
  const proc::Process* first_process() const;
  Status register_early();
  Status go();
  Result<std::unique_ptr<TracedProcess>> plan_untouched(proc::Process process, const PlanScope& scope);
  Status add_by_pid(pid_t pid);
  Status check_requests() const;
  Result<size_t> add_by_name();
  bool is_known(pid_t pid) const;
  // One that has just started may not have its libraries yet.
  int tries() const { return options.wait_for_processes ? kTriesWhileWaiting : 1; }
  Status arm_planned();
  Status arm_one(std::unique_ptr<TracedProcess> process);
  void choose_buffers();
  Status open_output(const proc::Process& first);
  Status register_streams(TracedProcess& process);
  Status write_metadata();

  Summary run(const Hooks& hooks);
  End loop(const Hooks& hooks);
  uint64_t drain();
  uint64_t heard_until(uint64_t now_ns) const;
  bool limit_is_reached() const;
  bool wait(std::chrono::milliseconds pause);
  std::optional<End> drop_gone(const Hooks& hooks);
  void look_for_more(const Hooks& hooks);
  void look_at_libraries(const Hooks& hooks);
  void refresh_ranges(const Hooks& hooks);
  // session_follow.cc
  void watch_all();
  bool may_come_later() const;
  void follow(const Hooks& hooks);
  void look_at_family();
  void hear_lives();
  void settle_lives(uint64_t now_ns);
  void end_lifecycle();
  void trace_executed(const Hooks& hooks);
  bool trace_new_image(pid_t pid, const Hooks& hooks);
  void hear_of_children(TracedProcess& process);
  void retire(TracedProcess& process);
  void finish(Summary& summary, const Hooks& hooks);
  void add_totals(TracedProcess& process);
  std::string buffer_advice() const;
  void count(Summary& summary) const;
  void tell_calls(Summary& summary) const;
  std::string place_of(uint64_t ip) const;
  std::string event_name(const ctf::EventClass& event_class, uint64_t ip) const;
  const std::vector<NamedFrame>& frames_of(int32_t vpid, uint64_t address, bool is_return) const;

  // Members in the order they are acquired: undone in reverse.
  const Options options;
  std::optional<ctf::TraceDir> dir;
  ctf::Uuid uuid = ctf::random_uuid();
  ctf::TraceInfo info;
  TraceContext context;
  std::optional<Statedump> statedump;  // kRecord
  std::optional<LiveMerge> merge;      // the sources of its events are below
  std::optional<Spawn> spawn;
  std::vector<std::unique_ptr<TracedProcess>> planned;
  std::vector<std::unique_ptr<TracedProcess>> live;
  std::vector<proc::Process> unarmed;  // nothing in them matches yet
  std::optional<Family> family;        // where it matters who comes and goes
  std::optional<Lifecycle> lifecycle;
  FamilyNews news;                              // that it has not been told yet
  std::vector<LifeLook::Heard> heard_of;        // the same
  std::vector<pid_t> lost;                      // the same
  std::set<pid_t> watched;                      // known to both
  std::map<pid_t, Clock::time_point> executed;  // new programs that are not ready yet, since when
  std::map<pid_t, int> failures;                // of the right name, but could not be traced so often
  uint64_t streams = 0;
  Armed armed;
  double waited_ms = 0;        // for a first process to come: nobody's doing
  double registration_ms = 0;  // of armed.total_ms: metadata and stream files
  DrainTotals totals;
  std::vector<std::optional<uint64_t>> hits;     // by class id - 1: summed over processes as they go
  std::vector<std::optional<CallTotals>> calls;  // the same of functions whose returns are probed
  std::vector<std::string> warnings;
  std::optional<Error> output_error;
  Clock::time_point last_look{};
};

}  // namespace blip::session
