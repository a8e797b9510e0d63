// SPDX-License-Identifier: MIT
#include "proc/attachment.h"

#include <fmt/core.h>
#include <sys/ptrace.h>

#include <algorithm>
#include <utility>

#include "base/progress.h"
#include "proc/files/status.h"
#include "proc/filtered_sleep.h"
#include "proc/memory_sharer.h"
#include "proc/stop_event.h"
#include "proc/stuck_thread.h"
#include "proc/thread_stopper.h"
#include "proc/tracer_thread.h"

namespace blip::proc {

namespace {

constexpr int kDetachAttempts = 3;
constexpr std::chrono::milliseconds kExitPatience{200};
constexpr std::chrono::milliseconds kStopPatience{200};

using Clock = std::chrono::steady_clock;

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

Result<Attachment> Attachment::stop_all(const Process& process, const StopLimits& limits) {
  const progress::Step step(fmt::format("waiting for process {} to stop", process.pid()));
  if (limits.pause) wait_until_all_ran(process.pid());
  Attachment attachment(process.pid(), limits);
  attachment.is_urgent_ = true;
  begin_urgency();
  TRY_OK(ThreadStopper(process, attachment, limits).stop_all());
  attachment.holds_all_threads_ = true;
  return attachment;
}

Result<Attachment> Attachment::stop_one(const Process& process, const StopLimits& limits) {
  const progress::Step step(fmt::format("waiting for a thread of process {} to stop", process.pid()));
  if (limits.pause) wait_until_all_ran(process.pid());
  Attachment attachment(process.pid(), limits);
  attachment.is_urgent_ = true;
  begin_urgency();
  TRY_OK(ThreadStopper(process, attachment, limits).stop_one());
  return attachment;
}

Attachment::Attachment(Attachment&& other) noexcept
    : pid_(other.pid_),
      threads_(std::exchange(other.threads_, {})),
      holds_all_threads_(other.holds_all_threads_),
      pause_(other.pause_),
      began_(other.began_),
      is_urgent_(std::exchange(other.is_urgent_, false)),
      longest_stop_(other.longest_stop_) {}

Attachment& Attachment::operator=(Attachment&& other) noexcept {
  if (this == &other) return *this;
  release();
  pid_ = other.pid_;
  threads_ = std::exchange(other.threads_, {});
  holds_all_threads_ = other.holds_all_threads_;
  pause_ = other.pause_;
  began_ = other.began_;
  is_urgent_ = std::exchange(other.is_urgent_, false);
  longest_stop_ = other.longest_stop_;
  return *this;
}

bool Attachment::must_let_go() const {
  return pause_ && began_ != Clock::time_point() && Clock::now() - began_ > *pause_ / 2;
}

void Attachment::release() {
  release_if([](const Thread&) { return true; });
  if (std::exchange(is_urgent_, false)) end_urgency();
  threads_.clear();
}

void Attachment::release_others(pid_t tid) {
  release_if([&](const Thread& thread) { return thread.tid != tid; });
  for (Thread& thread : threads_)
    if (thread.tid != tid) thread.stopped = false, thread.tid = 0;
  holds_all_threads_ = false;
}

template <typename Which>
void Attachment::release_if(Which&& which) {
  FilteredSleeps sleeps(pid_);
  for (Thread& thread : threads_)
    if (thread.stopped && which(thread)) let_go(thread, sleeps);
  settle_rest(sleeps);
  sleeps.let_go();
}

void Attachment::let_go(Thread& thread, FilteredSleeps& sleeps) {
  if (thread.holds_filtered_sleep()) {
    sleeps.resume(thread);
  } else {
    detach(thread);
  }
  if (thread.interrupted_at != Clock::time_point())
    longest_stop_ = std::max<std::chrono::nanoseconds>(
        longest_stop_, Clock::now() - thread.seen_running_at - thread.waited_for_cpu);
}

// Something failed, or took too long, before these threads had stopped; the others do not wait for them. A
// thread that was interrupted stops as soon as it runs. Its system call may need repair; then it goes on at
// once. One that never stops is let go when this OS thread ends.
void Attachment::settle_rest(FilteredSleeps& sleeps) {
  const auto begin = Clock::now();
  for (Backoff backoff;; backoff.pause()) {
    const auto waited = Clock::now() - begin;
    bool waiting = false;
    for (Thread& thread : threads_) {
      if (thread.stopped || thread.tid == 0 || settle(thread, sleeps)) continue;
      if (thread.interrupted_at == Clock::time_point()) continue;
      if (backoff.time_to_look() && thread_ended(pid_, thread.tid)) {
        reap_thread(pid_, thread.tid);
        thread.tid = 0;
        continue;
      }
      waiting |= waited < kStopPatience || (waited < kStarvation && is_starved(pid_, thread.tid));
    }
    if (!waiting) return;
  }
}

// False: it runs.
bool Attachment::settle(Thread& thread, FilteredSleeps& sleeps) {
  const auto now = Clock::now();
  const StopEvent event = poll_stop(thread.tid);
  if (event.kind == StopKind::kRunning) {
    thread.seen_running_at = now;
    return false;
  }
  if (event.kind == StopKind::kEnded) {
    reap_thread(pid_, thread.tid);
    thread.tid = 0;
    return true;
  }
  thread.pending_signal = event.signal;
  if (event.kind == StopKind::kInterrupt) (void)thread.refresh_and_repair(pid_, 0);
  thread.stopped = true;
  let_go(thread, sleeps);
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

Result<std::optional<pid_t>> find_memory_sharer(const Process& process) {
  TRY(const pid_t tid, find_live_thread(process.pid()));
  return MemorySharerScan(process.pid(), tid).find();
}

}  // namespace blip::proc
