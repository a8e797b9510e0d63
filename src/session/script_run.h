// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "session/roster.h"
#include "session/run/engine.h"
#include "session/totals.h"

namespace blip::session {

// The part of a session that runs a script: its engine, and names of processes that have gone.
class ScriptRun {
 public:
  // The script begins: its begin handlers run.
  explicit ScriptRun(Engine& engine);

  // The records of the process go to the script.
  void add(TracedProcess& process);
  // It has ended. Its names stay.
  void keep_names(TracedProcess& process);

  // All records until then have come. False: the output is full, and what is left waits: no more should be drained.
  bool run_until(uint64_t ns);
  bool is_held_up() const { return engine_.is_held_up(); }
  bool go_on() { return run_until(until_); }
  bool is_over() const { return engine_.is_over(); }
  // nullopt: there is no timer.
  std::optional<std::chrono::milliseconds> time_until_due() const;
  // Nothing more comes: the rest, and the script's end handlers.
  void end(Totals& totals);

  const std::vector<NamedFrame>& names_at(const Roster::Processes& live, pid_t pid, uint64_t address) const;

 private:
  Engine& engine_;
  uint64_t until_ = 0;
  mutable std::deque<std::pair<pid_t, FrameNames>> gone_;
};

}  // namespace blip::session
