// SPDX-License-Identifier: MIT
#include "proc/attachment.h"

#include <fmt/core.h>
#include <sys/ptrace.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/progress.h"
#include "proc/filtered_sleep.h"
#include "proc/status.h"
#include "proc/stop_event.h"
#include "proc/thread_stopper.h"

namespace blip::proc {

namespace {

constexpr int kDetachAttempts = 3;
constexpr std::chrono::milliseconds kExitPatience{200};
constexpr std::chrono::milliseconds kStopPatience{200};

// A stopped thread that cannot be detached has been killed. It may stop once more on its way out
// (PTRACE_EVENT_EXIT); its end has to be passed on.
void see_off(pid_t pid, pid_t tid) {
  const auto deadline = std::chrono::steady_clock::now() + kExitPatience;
  for (;;) {
    const StopEvent event = wait_for_stop(pid, tid, deadline);
    if (event.kind == StopKind::kRunning) return;
    if (event.kind == StopKind::kEnded) return reap_thread(pid, tid);
    if (::ptrace(PTRACE_DETACH, tid, nullptr, event.signal) == 0) return;
  }
}

}  // namespace

Result<Attachment> Attachment::stop_all(const Process& process, std::chrono::milliseconds deadline) {
  const progress::Step step(fmt::format("waiting for process {} to stop", process.pid()));
  Attachment attachment(process.pid());
  TRY_OK(ThreadStopper(process, attachment, deadline).stop_all());
  attachment.holds_all_threads_ = true;
  return attachment;
}

Result<Attachment> Attachment::stop_one(const Process& process, std::chrono::milliseconds deadline) {
  const progress::Step step(fmt::format("waiting for a thread of process {} to stop", process.pid()));
  Attachment attachment(process.pid());
  TRY_OK(ThreadStopper(process, attachment, deadline).stop_one());
  return attachment;
}

Attachment::Attachment(Attachment&& other) noexcept
    : pid_(other.pid_),
      threads_(std::exchange(other.threads_, {})),
      holds_all_threads_(other.holds_all_threads_),
      longest_stop_(other.longest_stop_) {}

Attachment& Attachment::operator=(Attachment&& other) noexcept {
  if (this == &other) return *this;
  release();
  pid_ = other.pid_;
  threads_ = std::exchange(other.threads_, {});
  holds_all_threads_ = other.holds_all_threads_;
  longest_stop_ = other.longest_stop_;
  return *this;
}

void Attachment::release() {
  FilteredSleeps sleeps(pid_);
  for (Thread& thread : threads_)
    if (thread.stopped) let_go(thread, sleeps);
  // Something failed before these had stopped; the others do not wait for them.
  const auto deadline = std::chrono::steady_clock::now() + kStopPatience;
  for (Thread& thread : threads_)
    if (!thread.stopped && thread.tid != 0 && settle(thread, deadline)) let_go(thread, sleeps);
  sleeps.let_go();
  threads_.clear();
}

void Attachment::let_go(Thread& thread, FilteredSleeps& sleeps) {
  if (thread.holds_filtered_sleep()) {
    sleeps.resume(thread);
  } else {
    detach(thread);
  }
  if (thread.interrupted_at != std::chrono::steady_clock::time_point())
    longest_stop_ = std::max<std::chrono::nanoseconds>(
        longest_stop_, std::chrono::steady_clock::now() - thread.seen_running_at);
}

// False: it has ended, or runs.
bool Attachment::settle(Thread& thread, std::chrono::steady_clock::time_point deadline) {
  // If it was interrupted it stops now, and its system call may need repair. One that never does is let go
  // when this OS thread ends.
  const bool interrupted = thread.interrupted_at != std::chrono::steady_clock::time_point();
  const StopEvent event = interrupted ? wait_for_stop(pid_, thread.tid, deadline) : poll_stop(thread.tid);
  if (event.kind == StopKind::kEnded) {
    reap_thread(pid_, thread.tid);
    return false;
  }
  if (event.kind == StopKind::kRunning) {
    BLIP_LOG("proc", "thread {} of {} is still running, attached", thread.tid, pid_);
    return false;
  }
  thread.pending_signal = event.signal;
  if (event.kind == StopKind::kInterrupt) (void)thread.refresh_and_repair(pid_, 0);
  return true;
}

void Attachment::detach(Thread& thread) {
  if (thread.rewound_call >= 0) {
    const auto pending = thread.interrupting_signals(pid_);
    if (pending && *pending != 0) (void)thread.undo_rewind();
  }
  bool detached = false;
  for (int attempt = 0; attempt < kDetachAttempts && !detached; ++attempt)
    detached = ::ptrace(PTRACE_DETACH, thread.tid, nullptr, thread.pending_signal) == 0;
  if (!detached) see_off(pid_, thread.tid);
}

}  // namespace blip::proc
