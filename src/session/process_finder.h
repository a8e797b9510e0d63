// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>

#include "base/result.h"
#include "session/process/armed.h"
#include "session/roster.h"

namespace blip::session {

// Finds the processes that the user means, and plans what is armed in them. Nothing is changed in them.
class ProcessFinder {
 public:
  // All of it outlives this. Remarks and notes go to `armed`.
  ProcessFinder(TraceContext& context, Roster& roster, Armed& armed)
      : context_(context), roster_(roster), armed_(armed) {}

  // By name or by pids. With Options::wait_for_processes it waits for the first one; `waiting` is called before.
  Status find(const std::function<void()>& waiting);
  // True if there are more now. Looks only now and then.
  bool find_more();

  // For the first process to come: nobody's doing.
  double waited_ms() const { return waited_ms_; }

 private:
  using Clock = std::chrono::steady_clock;

  Status find_by_name(const std::function<void()>& waiting);
  Status wait_for_one();
  Error none_found() const;
  Status add_by_pid(pid_t pid);
  Status check_requests() const;
  Result<size_t> add_by_name();
  Result<std::unique_ptr<TracedProcess>> plan(proc::Process process, const PlanScope& scope);

  TraceContext& context_;
  Roster& roster_;
  Armed& armed_;
  double waited_ms_ = 0;
  Clock::time_point last_look_{};
};

}  // namespace blip::session
