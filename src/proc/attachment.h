// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "proc/files/process.h"
#include "proc/thread.h"

namespace blip::proc {

inline constexpr std::chrono::milliseconds kStopDeadline{2000};

struct StopLimits {
  std::chrono::milliseconds patience = kStopDeadline;  // with a thread that does not stop
  // The longest time that a thread may be held; nullopt for as long as it takes. If the other threads do not
  // stop soon enough, all are let go (pause.h).
  std::optional<std::chrono::nanoseconds> pause{};
};

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
  static Result<Attachment> stop_all(const Process& process, const StopLimits& limits = {});
  // One thread, the one most likely to stop at once; the others run.
  static Result<Attachment> stop_one(const Process& process, const StopLimits& limits = {});

  Attachment(Attachment&& other) noexcept;
  Attachment& operator=(Attachment&& other) noexcept;
  ~Attachment() { release(); }

  pid_t pid() const { return pid_; }
  std::span<Thread> threads() { return threads_; }
  bool holds_all_threads() const { return holds_all_threads_; }

  // Half of the allowed pause is over: what is not done yet is for another stop. The other half is for blip's
  // own waits for a CPU. Never true without a limit.
  bool must_let_go() const;

  // Detaches all threads now. Harmless when done before.
  void release();
  // The same with all but one. The others keep their places among threads(), without a tid.
  void release_others(pid_t tid);
  // After release(): the longest time any thread was held, from when it was last seen running to its detach,
  // less what it waited for a CPU to make calls for blip.
  std::chrono::nanoseconds longest_stop() const { return longest_stop_; }

 private:
  friend class ThreadStopper;
  Attachment(pid_t pid, const StopLimits& limits) : pid_(pid), pause_(limits.pause) {}

  template <typename Which>
  void release_if(Which&& which);
  void let_go(Thread& thread, FilteredSleeps& sleeps);
  void settle_rest(FilteredSleeps& sleeps);
  bool settle(Thread& thread, FilteredSleeps& sleeps);
  void detach(Thread& thread);

  pid_t pid_;
  std::vector<Thread> threads_;
  bool holds_all_threads_ = false;
  std::optional<std::chrono::nanoseconds> pause_;
  std::chrono::steady_clock::time_point began_;  // the first thread was stopped
  bool is_urgent_ = false;
  std::chrono::nanoseconds longest_stop_{0};
};

// Another process that runs in the same memory (vfork, clone with CLONE_VM), as far as blip may look.
Result<std::optional<pid_t>> find_memory_sharer(const Process& process);

}  // namespace blip::proc
