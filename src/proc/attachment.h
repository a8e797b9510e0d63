// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "proc/process.h"
#include "proc/thread.h"

namespace blip::proc {

inline constexpr std::chrono::milliseconds kStopDeadline{2000};

class FilteredSleeps;

// "Attached and stopped": while it lives, the threads of the target it lists are stopped; its end detaches
// them all and they go on as if nothing had happened. Pending signals, group stops and interrupted system
// calls stay as they were.
//
// ptrace belongs to an OS thread: use and destroy it in the thread that made it. A thread of the target that
// could not be stopped in time (vfork), or that sleeps behind a seccomp filter (filtered_sleep.h), stays
// attached until that OS thread ends; on_tracer_thread() makes that the end of the call. One call for each
// stop, then: nothing else should be done in it that takes long.
class Attachment {
 public:
  // Every thread, also those created meanwhile; no other process shares the memory afterwards. kTimeout names
  // the thread that did not stop, kBusy the other tracer, kGone says that the target ended or called exec.
  static Result<Attachment> stop_all(const Process& process,
                                     std::chrono::milliseconds deadline = kStopDeadline);
  // One thread, the one most likely to stop at once; the others run.
  static Result<Attachment> stop_one(const Process& process,
                                     std::chrono::milliseconds deadline = kStopDeadline);

  Attachment(Attachment&& other) noexcept;
  Attachment& operator=(Attachment&& other) noexcept;
  ~Attachment() { release(); }

  pid_t pid() const { return pid_; }
  std::span<Thread> threads() { return threads_; }
  bool holds_all_threads() const { return holds_all_threads_; }

  // Detaches all threads now. Harmless when done before.
  void release();
  // After release(): the longest time any thread was held, from when it was last seen running to its detach.
  std::chrono::nanoseconds longest_stop() const { return longest_stop_; }

 private:
  friend class ThreadStopper;
  explicit Attachment(pid_t pid) : pid_(pid) {}

  void let_go(Thread& thread, FilteredSleeps& sleeps);
  bool settle(Thread& thread, std::chrono::steady_clock::time_point deadline);
  void detach(Thread& thread);

  pid_t pid_;
  std::vector<Thread> threads_;
  bool holds_all_threads_ = false;
  std::chrono::nanoseconds longest_stop_{0};
};

// Another process that runs in the same memory (vfork, clone with CLONE_VM), as far as blip may look.
Result<std::optional<pid_t>> find_memory_sharer(const Process& process);

}  // namespace blip::proc
