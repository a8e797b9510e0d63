// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "base/result.h"
#include "session/executed_programs.h"
#include "session/lifecycle.h"
#include "session/outputs.h"
#include "session/roster.h"
#include "session/wake_ups.h"
#include "session/watch/family.h"

namespace blip::session {

// Processes of the trace that come, call exec and go: told as events (--lifecycle), traced on (--follow-exec). Where
// neither is asked for, nobody is watched.
class FamilyWatch {
 public:
  // All of it outlives this. The context gets the classes of the events.
  FamilyWatch(TraceContext& context, const Roster& roster, ExecutedPrograms& executed);

  // Before the first look: where the events go.
  Status write_to(TraceFiles& files);
  void show_to(LiveShow& show);
  void tell(ScriptRun& script);

  // Before any of the processes can do anything that is to be told.
  void begin();
  // Looks at the processes, those that were added to the roster too.
  Status look();
  // Children that the process's own events have told of.
  void hear_of_children(TracedProcess& process);
  // All events up to this time have come.
  void settle(uint64_t heard_until_ns);
  // No event that is still to be told is older; the end of time if none are told.
  uint64_t complete_until() const { return lifecycle_ ? lifecycle_->complete_until() : UINT64_MAX; }
  // The last look of all.
  Status finish();

  // A process may come that can be traced. Without --follow-exec, who calls exec or has nothing to be probed is
  // left alone.
  bool may_come_later() const;
  // Adds what tells at once that one of them has ended.
  void add_wakers(std::vector<WakeUps::Waker>& wakers) const;
  // Events of its own that it has told.
  uint64_t events() const { return lifecycle_ ? lifecycle_->events() : 0; }

 private:
  void watch_all();
  void watch(const proc::Process& process, bool has_pads);
  void hear_lives();
  void look_now();

  TraceContext& context_;
  const Roster& roster_;
  ExecutedPrograms& executed_;
  std::optional<Family> family_;
  std::optional<Lifecycle> lifecycle_;
  // Lifecycle has not been told yet:
  FamilyNews news_;
  std::vector<LifeLook::Heard> heard_of_;
  std::vector<pid_t> lost_;
  std::set<pid_t> watched_;  // known to both
};

}  // namespace blip::session
