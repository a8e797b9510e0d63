// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "proc/attachment.h"
#include "proc/files/process.h"
#include "proc/memory_sharer.h"
#include "proc/stop_event.h"

namespace blip::proc {

// To the program two stops are one if it did not run in between: a thread that was let go a moment ago may
// still wait for a CPU. Returns when each thread that can run has done so, or after a fifth of a second.
void wait_until_all_ran(pid_t pid);

// Brings threads of one process to a stop and hands them to an Attachment, which owns them from the first
// moment.
class ThreadStopper {
 public:
  ThreadStopper(const Process& process, Attachment& attachment, const StopLimits& limits);

  Status stop_all();
  Status stop_one();

 private:
  using Clock = std::chrono::steady_clock;

  // Seizes the threads not seized before; the number of them.
  Result<size_t> seize_new_threads();
  // False: the thread has ended, or never was one of the process.
  Result<bool> seize(pid_t tid);
  Status let_go_of_stranger(pid_t tid);
  Status wait_until_memory_is_ours(MemorySharerScan& scan);
  Result<bool> explain_failed_seize(pid_t tid, int error) const;
  // Every thread that the kernel counts is stopped.
  bool holds_every_thread() const;
  bool belongs_to_process(pid_t tid) const;
  void interrupt_running();
  Status wait_until_stopped();
  // Takes one report of the thread; true when it is stopped for good or has ended (tid 0).
  Result<bool> settle(Thread& thread);
  Result<bool> react(Thread& thread, StopEvent event);
  Status pass_signal_on(Thread& thread, int signal);
  Error explain_timeout(const Thread& thread) const;
  Result<pid_t> choose_thread() const;
  bool out_of_time() const { return Clock::now() >= deadline_; }
  Status check_pause() const;

  const Process& process_;
  Attachment& attachment_;
  std::vector<Thread>& threads_;
  std::unordered_set<pid_t> seized_;
  std::chrono::milliseconds patience_;
  Clock::time_point deadline_;
  bool queues_signals_;
};

}  // namespace blip::proc
