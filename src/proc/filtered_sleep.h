// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "proc/thread.h"

namespace blip::proc {

// Lets go of threads whose sleep was interrupted by our stop and whose seccomp filter may not know
// restart_syscall (Thread::holds_filtered_sleep). Each sleeps on for the rest of its time. It stays attached
// until this OS thread ends, which must be soon (on_tracer_thread).
// Without the privilege to suspend the filter, or on another thread, the call is made again as the program
// made it, and a relative timeout begins anew.
class FilteredSleeps {
 public:
  explicit FilteredSleeps(pid_t pid) : pid_(pid) {}

  // The thread runs on, up to the entry of its call.
  void resume(Thread& thread);
  // Returns when every thread is asleep, detached or gone.
  void let_go();

 private:
  enum class Phase { kEntering, kInside, kDone };
  struct Sleeper {
    Thread* thread;
    uint64_t number;  // of the call that it makes
    Phase phase = Phase::kEntering;
  };

  void look_at(Sleeper& sleeper);
  void at_system_call(Sleeper& sleeper);
  Status make_call(const Sleeper& sleeper);
  void at_signal(Sleeper& sleeper, int signal);
  void go_on(Sleeper& sleeper, int signal);
  void detach(Sleeper& sleeper, int signal);
  void give_up(Sleeper& sleeper);
  bool sleeps(const Sleeper& sleeper) const;

  pid_t pid_;
  std::vector<Sleeper> sleepers_;
};

}  // namespace blip::proc
