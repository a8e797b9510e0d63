// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "session/roster.h"
#include "session/run/engine.h"
#include "session/script_sampler.h"
#include "session/totals.h"
#include "session/watch/lives.h"

namespace blip::session {

// The part of a session that runs a script: its engine, and names of processes that have gone.
class ScriptRun {
 public:
  // The script begins: its begin handlers run.
  explicit ScriptRun(Engine& engine);

  // The records of the process go to the script.
  void add(TracedProcess& process);
  // It is sampled, if the script has profile probes.
  Status sample(const proc::Process& process);
  // Its samples go to the script, up to now.
  void drain_samples();
  // A process or a thread began or ended.
  void add(const LifeEvent& event);
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
  mutable std::vector<std::unique_ptr<ScriptSampler>> samplers_;
  uint64_t lost_samples_ = 0;
  mutable std::deque<std::pair<pid_t, FrameNames>> gone_;
};

}  // namespace blip::session
