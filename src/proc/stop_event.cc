// SPDX-License-Identifier: MIT
#include "proc/stop_event.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "proc/files/status.h"

namespace blip::proc {

namespace {

constexpr int kSyscallMark = 0x80;  // PTRACE_O_TRACESYSGOOD
constexpr unsigned kBusyRounds = 40;
constexpr long kFirstNap = 50'000, kLongestNap = 250'000;  // ns

}  // namespace

const unsigned long kTraceOptions = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXIT | PTRACE_O_TRACEEXEC;

StopEvent decode_stop(int status) {
  const int signal = status & 0xff;
  switch (status >> 8) {
    case 0:
      if (signal == (SIGTRAP | kSyscallMark)) return {StopKind::kSyscall, 0};
      return {StopKind::kSignal, signal};
    case PTRACE_EVENT_STOP:
      return {signal == SIGTRAP ? StopKind::kInterrupt : StopKind::kGroupStop, 0};
    case PTRACE_EVENT_EXIT:
      return {StopKind::kExit, 0};
    case PTRACE_EVENT_EXEC:
      return {StopKind::kExec, 0};
    default:
      return {StopKind::kInterrupt,
              0};  // an event we did not ask for: a stop without a meaning for the thread
  }
}

StopEvent poll_stop(pid_t tid) {
  siginfo_t info{};
  // Without WEXITED: a child of blip itself keeps its exit status for whoever waits for it.
  if (::waitid(P_PID, static_cast<id_t>(tid), &info, WSTOPPED | WNOHANG | __WALL) != 0)
    return {errno == ECHILD ? StopKind::kEnded : StopKind::kRunning, 0};
  if (info.si_pid == 0) return {};
  return decode_stop(info.si_status);
}

StopEvent wait_for_stop(pid_t pid, pid_t tid, std::chrono::steady_clock::time_point deadline) {
  for (Backoff backoff;; backoff.pause()) {
    const StopEvent event = poll_stop(tid);
    if (event.kind != StopKind::kRunning) return event;
    if (!backoff.time_to_look()) continue;
    if (thread_ended(pid, tid)) return {StopKind::kEnded, 0};
    if (std::chrono::steady_clock::now() >= deadline) return {};
  }
}

bool thread_ended(pid_t pid, pid_t tid) {
  const auto stat = read_stat(pid, tid);
  if (!stat) return stat.error().kind() == ErrorKind::kGone;
  return stat->state == 'Z' || stat->state == 'X';
}

void reap_thread(pid_t pid, pid_t tid) {
  if (pid == tid) {
    const auto status = read_status(pid, tid);
    if (!status || status->ppid == ::getpid())
      return;  // our own child: its exit status is not ours to take here
  }
  ::waitpid(tid, nullptr, __WALL | WNOHANG);
}

void Backoff::pause() {
  // Not sched_yield: on a busy machine it gives a whole time slice away, milliseconds of the target's pause.
  // Naps become longer: whoever uses the CPU for more than their share of a busy machine does not get it back
  // when they wake up.
  if (++rounds_ < kBusyRounds) return;
  const timespec nap{0, std::min(kFirstNap + kFirstNap * (rounds_ - kBusyRounds) / 16, kLongestNap)};
  ::nanosleep(&nap, nullptr);
}

}  // namespace blip::proc
