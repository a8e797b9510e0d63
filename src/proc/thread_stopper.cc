// SPDX-License-Identifier: MIT
#include "proc/thread_stopper.h"

#include <fmt/core.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <thread>

#include "proc/files/permission.h"
#include "proc/files/thread_names.h"
#include "proc/pause.h"
#include "proc/stuck_thread.h"

// Threads keep being created while we stop others, so the list is read again until as many threads are
// stopped as the kernel counts in the process: then nobody is left to create one. The kernel also counts
// threads that have exited and wait for somebody to notice (a leader, for as long as the others live); then
// the end is two passes in a row that find nothing new. Seizing does not stop; all threads of a pass are
// seized first and then interrupted together, so that the pause begins for all at about the same time.
//
// Any ptrace stop cancels a pending PTRACE_INTERRUPT (kernel/signal.c, ptrace_stop). A thread that reports a
// signal instead of our stop is therefore interrupted again before it is resumed with that signal: it takes
// the signal, with its siginfo, as it would have, and stops before the first instruction of the handler.

namespace blip::proc {

namespace {

constexpr int kCleanPasses = 2;
constexpr int kInterruptAttempts = 3;
constexpr std::chrono::microseconds kRunPause{500};
constexpr std::chrono::milliseconds kRunPatience{200};

using Clock = std::chrono::steady_clock;

Error ended(pid_t pid) { return Error(ErrorKind::kGone, fmt::format("process {} has ended", pid), ESRCH); }

// A thread that has just ended cannot be interrupted; that is seen while waiting for it.
void interrupt(pid_t tid) {
  for (int attempt = 0; attempt < kInterruptAttempts; ++attempt)
    if (::ptrace(PTRACE_INTERRUPT, tid, nullptr, nullptr) == 0 || errno == ESRCH) return;
}

// Of a thread that runs or waits for a CPU. Nullopt for others, and if the kernel does not tell.
std::optional<std::string> runs_so_far(pid_t pid, pid_t tid) {
  const auto stat = read_stat(pid, tid);
  if (!stat || stat->state != 'R') return std::nullopt;
  const auto runs = read_proc_file(fmt::format("/proc/{}/task/{}/schedstat", pid, tid));
  return runs ? std::optional(*runs) : std::nullopt;
}

}  // namespace

void wait_until_all_ran(pid_t pid) {
  std::map<pid_t, std::string> before;  // how long, and how often, each has run
  for (const pid_t tid : list_threads(pid).value_or(std::vector<pid_t>()))
    if (auto runs = runs_so_far(pid, tid)) before.emplace(tid, *std::move(runs));
  const auto deadline = Clock::now() + kRunPatience;
  while (!before.empty() && Clock::now() < deadline) {
    std::this_thread::sleep_for(kRunPause);
    std::erase_if(before, [&](const auto& one) { return runs_so_far(pid, one.first) != one.second; });
  }
}

ThreadStopper::ThreadStopper(const Process& process, Attachment& attachment, const StopLimits& limits)
    : process_(process),
      attachment_(attachment),
      threads_(attachment.threads_),
      patience_(limits.patience),
      deadline_(Clock::now() + limits.patience) {
  const auto status = read_status(process.pid(), process.pid());
  queues_signals_ = status && status->queues_signals();
}

Status ThreadStopper::stop_all() {
  TRY(const pid_t live, find_live_thread(process_.pid()));
  MemorySharerScan scan(process_.pid(), live);
  TRY_OK(wait_until_memory_is_ours(scan));
  for (int clean = 0; clean < kCleanPasses && !holds_every_thread();) {
    TRY(const size_t found, seize_new_threads());
    clean = found == 0 ? clean + 1 : 0;
    interrupt_running();
    TRY_OK(wait_until_stopped());
  }
  if (threads_.empty() || !process_.alive()) return ended(process_.pid());
  return wait_until_memory_is_ours(scan);
}

bool ThreadStopper::holds_every_thread() const {
  if (threads_.empty()) return false;
  const auto stat = read_stat(process_.pid(), threads_.front().tid);
  return stat && stat->num_threads == threads_.size();
}

Status ThreadStopper::wait_until_memory_is_ours(MemorySharerScan& scan) {
  for (;;) {
    TRY(const auto sharer, scan.find());
    if (!sharer) return {};
    TRY_OK(check_pause());
    if (out_of_time())
      return Error(
          ErrorKind::kTimeout,
          fmt::format("process {} shares the memory of {} (vfork or clone): try again when it has ended",
                      *sharer, process_.pid()));
    ::usleep(1000);
  }
}

Status ThreadStopper::stop_one() {
  while (threads_.empty()) {
    TRY(const pid_t tid, choose_thread());
    TRY_OK(seize(tid));
    interrupt_running();
    TRY_OK(wait_until_stopped());
    if (threads_.empty() && (!process_.alive() || out_of_time())) return ended(process_.pid());
  }
  return {};
}

Result<pid_t> ThreadStopper::choose_thread() const {
  TRY(const std::vector<pid_t> tids, list_threads(process_.pid()));
  // Sleeping threads stop at once and, waiting in a system call, are in nobody's way; 'D' may take forever.
  constexpr std::string_view kPreference = "STtRID";
  pid_t best = 0;
  size_t best_rank = kPreference.size();
  for (const pid_t tid : tids) {
    const auto stat = read_stat(process_.pid(), tid);
    if (!stat && stat.error().kind() != ErrorKind::kGone) return stat.error();
    if (!stat || stat->state == 'Z' || stat->state == 'X') continue;
    const size_t rank = std::min(kPreference.find(stat->state), kPreference.size());
    if (best != 0 && rank >= best_rank) continue;
    best = tid;
    best_rank = rank;
    if (best_rank == 0) break;
  }
  if (best == 0) return ended(process_.pid());
  return best;
}

Result<size_t> ThreadStopper::seize_new_threads() {
  TRY(const std::vector<pid_t> tids, list_threads(process_.pid()));
  size_t found = 0;
  for (const pid_t tid : tids) {
    if (seized_.contains(tid)) continue;
    TRY(const bool ours, seize(tid));
    if (ours) ++found;
  }
  return found;
}

Result<bool> ThreadStopper::seize(pid_t tid) {
  if (::ptrace(PTRACE_SEIZE, tid, nullptr, kTraceOptions) != 0) return explain_failed_seize(tid, errno);
  if (!belongs_to_process(tid)) {
    TRY_OK(let_go_of_stranger(tid));
    return false;
  }
  Thread thread;
  thread.tid = tid;
  thread.queues_signals = queues_signals_;
  threads_.push_back(thread);
  seized_.insert(tid);
  return true;
}

Result<bool> ThreadStopper::explain_failed_seize(pid_t tid, int error) const {
  if (error == ESRCH || thread_ended(process_.pid(), tid)) return false;
  const auto status = read_status(process_.pid(), tid);
  if (!status && status.error().kind() != ErrorKind::kGone) return status.error();
  if (!status) return false;
  if (status->tracer_pid != 0)
    return Error(ErrorKind::kBusy,
                 fmt::format("process {}: already traced by {} (pid {}): detach it first", process_.pid(),
                             read_comm(status->tracer_pid, status->tracer_pid), status->tracer_pid));
  if (error == EPERM) return explain_denial(gather_access_facts(process_.pid(), *status));
  return Error::from_errno(error,
                           fmt::format("cannot attach to thread {} of process {}", tid, process_.pid()));
}

bool ThreadStopper::belongs_to_process(pid_t tid) const {
  return ::access(fmt::format("/proc/{}/task/{}", process_.pid(), tid).c_str(), F_OK) == 0 &&
         process_.alive();
}

// The tid was given to another process between the listing and the seizing.
Status ThreadStopper::let_go_of_stranger(pid_t tid) {
  interrupt(tid);
  const StopEvent event = wait_for_stop(tid, tid, deadline_);
  if (event.kind == StopKind::kRunning)
    return Error(ErrorKind::kTimeout, fmt::format("thread {} does not stop", tid));
  ::ptrace(PTRACE_DETACH, tid, nullptr, event.signal);
  return {};
}

void ThreadStopper::interrupt_running() {
  for (Thread& thread : threads_) {
    if (thread.stopped) continue;
    thread.interrupted_at = thread.seen_running_at = Clock::now();
    interrupt(thread.tid);
  }
}

Status ThreadStopper::wait_until_stopped() {
  for (Backoff backoff;; backoff.pause()) {
    const Thread* waiting = nullptr;
    for (Thread& thread : threads_) {
      if (thread.stopped || thread.tid == 0) continue;
      TRY(const bool settled, settle(thread));
      if (!settled) waiting = &thread;
    }
    if (!waiting) break;
    TRY_OK(check_pause());
    // To give up on it would leave it the EINTR that our interruption has made of its wait.
    const bool starved = Clock::now() < deadline_ + kStarvation && is_starved(process_.pid(), waiting->tid);
    if (out_of_time() && !starved) return explain_timeout(*waiting);
    if (!backoff.time_to_look()) continue;
    for (Thread& thread : threads_) {
      if (!thread.stopped && thread.tid != 0 && thread_ended(process_.pid(), thread.tid)) {
        TRY_OK(react(thread, {StopKind::kEnded, 0}));
      }
    }
  }
  std::erase_if(threads_, [](const Thread& thread) { return thread.tid == 0; });
  return {};
}

// A thread that has stopped already waits for the others.
Status ThreadStopper::check_pause() const {
  if (!attachment_.must_let_go()) return {};
  return pause_exceeded(
      fmt::format("process {}: its threads do not stop soon enough for --max-pause", process_.pid()));
}

Result<bool> ThreadStopper::settle(Thread& thread) {
  const Clock::time_point now = Clock::now();
  const StopEvent event = poll_stop(thread.tid);
  if (event.kind == StopKind::kRunning) thread.seen_running_at = now;
  return react(thread, event);
}

Result<bool> ThreadStopper::react(Thread& thread, StopEvent event) {
  switch (event.kind) {
    case StopKind::kRunning:
      return false;
    case StopKind::kSignal:
      TRY_OK(pass_signal_on(thread, event.signal));
      return false;
    case StopKind::kSyscall:
    case StopKind::kInterrupt:
    case StopKind::kGroupStop:
      thread.stopped = true;
      if (attachment_.began_ == Clock::time_point()) attachment_.began_ = thread.seen_running_at;
      // A call ended by a group stop returns EINTR when the group goes on, with or without us.
      TRY_OK(event.kind == StopKind::kGroupStop ? thread.refresh()
                                                : thread.refresh_and_repair(process_.pid(), 0));
      return true;
    case StopKind::kExec:
      thread.stopped = true;
      return Error(ErrorKind::kGone, fmt::format("process {} called exec: attach again", process_.pid()));
    case StopKind::kExit:
      ::ptrace(PTRACE_DETACH, thread.tid, nullptr, nullptr);
      break;
    case StopKind::kEnded:
      reap_thread(process_.pid(), thread.tid);
      break;
  }
  seized_.erase(thread.tid);
  thread.tid = 0;
  return true;
}

Status ThreadStopper::pass_signal_on(Thread& thread, int signal) {
  thread.stopped = true;
  thread.pending_signal = signal;
  TRY_OK(thread.refresh_and_repair(process_.pid(), signal));
  TRY_OK(thread.resume_with_signal_and_interrupt());
  return {};
}

Error ThreadStopper::explain_timeout(const Thread& thread) const {
  return describe_stuck_thread(process_.pid(), thread.tid, patience_);
}

}  // namespace blip::proc
