// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/event_loop.h"
#include "session/executed_programs.h"
#include "session/family_watch.h"
#include "session/hooks.h"
#include "session/outputs.h"
#include "session/process/summary.h"
#include "session/process_armer.h"
#include "session/process_finder.h"
#include "session/roster.h"
#include "session/totals.h"
#include "session/wake_ups.h"

namespace blip::session {

// A trace from when its probes are armed to when they are removed: rounds in which events are drained and shown,
// and in between a look at who comes and goes.
class TraceLoop {
 public:
  // All of it outlives the loop.
  struct Parts {
    TraceContext& context;
    Roster& roster;
    Outputs& outputs;
    ProcessFinder& finder;
    ProcessArmer& armer;
    ExecutedPrograms& executed;
    FamilyWatch& family;
    Totals& totals;
  };

  // `loop` waits for everything that the trace waits for; others may use it too, in the same thread.
  TraceLoop(EventLoop& loop, const Parts& parts, const Hooks& hooks)
      : loop_(loop), p_(parts), hooks_(hooks), wake_ups_(loop) {}

  // Until the last process ends, a limit is reached or somebody wants to stop.
  End run();
  // Then: leaves all processes, and tells what came of it.
  void finish(Summary& summary);
  // A process brings no more events.
  void retire(TracedProcess& process);

 private:
  using Clock = std::chrono::steady_clock;

  std::optional<End> round();
  std::optional<End> look_around();
  uint64_t drain();
  uint64_t heard_until(uint64_t now_ns) const;
  bool limit_is_reached() const;
  std::optional<std::chrono::milliseconds> time_left() const;
  std::chrono::milliseconds pause_after(uint64_t bytes) const;
  void wait(std::chrono::milliseconds pause);
  std::optional<End> drop_gone();
  bool more_may_come() const;
  bool is_script_waiting() const;
  void look_for_more();
  void look_at_libraries();
  void refresh_ranges();
  void leave_all(Summary& summary);
  void show_rest();
  void notice(const std::string& text) const {
    if (hooks_.notice) hooks_.notice(text);
  }

  EventLoop& loop_;
  const Parts p_;
  const Hooks& hooks_;
  WakeUps wake_ups_;
  std::vector<WakeUps::Waker> wakers_;  // for the next sleep
  Clock::time_point begin_{};
};

}  // namespace blip::session
