// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <map>
#include <string>

#include "session/process_armer.h"
#include "session/watch/process_watch.h"

namespace blip::session {

// Programs that processes of the trace have executed, to be traced as soon as their libraries are there
// (--follow-exec).
class ExecutedPrograms {
 public:
  using Notice = std::function<void(const std::string&)>;

  // All of it outlives this.
  ExecutedPrograms(TraceContext& context, ProcessArmer& armer) : context_(context), armer_(armer) {}

  void add(pid_t pid) { since_.try_emplace(pid, Clock::now()); }
  // It has ended.
  void forget(pid_t pid) { since_.erase(pid); }
  bool empty() const { return since_.empty(); }

  // Arms those that are ready, and those that have not become ready for long. `notice` may be empty.
  void arm_ready(const Notice& notice);

 private:
  using Clock = std::chrono::steady_clock;

  bool must_wait(pid_t pid, Clock::time_point since) const;
  Status arm(pid_t pid);

  TraceContext& context_;
  ProcessArmer& armer_;
  std::map<pid_t, Clock::time_point> since_;  // not ready yet
};

}  // namespace blip::session
