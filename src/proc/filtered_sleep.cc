// SPDX-License-Identifier: MIT
#include "proc/filtered_sleep.h"

#include <sys/ptrace.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>

#include "machine/thread_registers.h"
#include "proc/files/status.h"
#include "proc/stop_event.h"
#include "proc/tracer_thread.h"

// nanosleep, clock_nanosleep, poll and futex with a timeout keep what is left of their time in the kernel
// (struct restart_block). After any stop the kernel goes on with such a call by making the thread call
// restart_syscall at the same instruction. A seccomp filter sees that number, and one that does not list it
// kills the thread or gives the program an error. The rest of the time is known to the kernel alone, so the
// call has to be restart_syscall, and the filter must not see it:
//
//   stopped       rax = the call's own number, rip at `syscall`: should blip die now the thread survives, its
//                 sleep begins anew
//   let go        rax = restart_syscall, filter suspended (PTRACE_O_SUSPEND_SECCOMP), PTRACE_SYSCALL
//   entry stop    PTRACE_SYSCALL: the kernel asks the filter only after this stop
//   asleep        seen in /proc: past the filter. It cannot be detached now, because PTRACE_DETACH wants a
//                 stopped thread, and a stop would interrupt the call again. But the end of the tracer's OS
//                 thread detaches whoever runs or sleeps, without a stop.
//   exit stop     the call has ended already: detached here, before the program can make another call without
//                 its filter
//
// PTRACE_DETACH at the entry stop would not do either: the kernel marks a thread that it detaches as having a
// signal, which interrupts the call. Who may not suspend the filter does the same with the call's own number.
//
// A signal that arrives meanwhile is seen as such, and the thread takes it with the registers that the kernel
// left, so that a handler makes EINTR of the call. One case stays: a signal that the program ignores and that
// arrives between the last look and the end of the OS thread, some microseconds, interrupts the call where
// nobody can help any more.

#ifndef PTRACE_O_SUSPEND_SECCOMP
#define PTRACE_O_SUSPEND_SECCOMP (1 << 21)
#endif

namespace blip::proc {

namespace {

constexpr int kAttempts = 3;
constexpr std::chrono::seconds kPatience{20};  // a busy machine may leave a thread without a CPU for long
bool ptrace_firmly(__ptrace_request request, pid_t tid, unsigned long data) {
  for (int attempt = 0; attempt < kAttempts; ++attempt)
    if (::ptrace(request, tid, nullptr, data) == 0) return true;
  return false;
}

bool suspend_filter(pid_t tid) {
  return ::ptrace(PTRACE_SETOPTIONS, tid, nullptr, kTraceOptions | PTRACE_O_SUSPEND_SECCOMP) == 0;
}

}  // namespace

void FilteredSleeps::resume(Thread& thread) {
  Sleeper sleeper{&thread, static_cast<uint64_t>(thread.rewound_call)};
  if (!is_tracer_thread()) return detach(sleeper, thread.pending_signal);
  if (suspend_filter(thread.tid)) sleeper.number = SYS_restart_syscall;
  (void)make_call(sleeper);
  go_on(sleeper, thread.pending_signal);
  sleepers_.push_back(sleeper);
}

void FilteredSleeps::let_go() {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  const auto done = [](const Sleeper& sleeper) { return sleeper.phase == Phase::kDone; };
  for (Backoff backoff; !std::all_of(sleepers_.begin(), sleepers_.end(), done); backoff.pause()) {
    const bool late = std::chrono::steady_clock::now() >= deadline;
    for (Sleeper& sleeper : sleepers_) {
      if (done(sleeper)) continue;
      look_at(sleeper);
      if (late && !done(sleeper)) give_up(sleeper);
    }
  }
  sleepers_.clear();
}

void FilteredSleeps::look_at(Sleeper& sleeper) {
  const pid_t tid = sleeper.thread->tid;
  // Asked for first: a thread that is seen asleep now and reports a stop after that was asleep.
  const bool asleep = sleeper.phase == Phase::kInside && sleeps(sleeper);
  const StopEvent event = poll_stop(tid);
  switch (event.kind) {
    case StopKind::kRunning:
      if (asleep) {
        expect_end_of_tracer_thread();
        sleeper.phase = Phase::kDone;
      } else if (thread_ended(pid_, tid)) {
        reap_thread(pid_, tid);
        sleeper.phase = Phase::kDone;
      }
      return;
    case StopKind::kSyscall:
      return at_system_call(sleeper);
    case StopKind::kSignal:
      return at_signal(sleeper, event.signal);
    case StopKind::kInterrupt:
      return go_on(sleeper, 0);
    case StopKind::kEnded:
      reap_thread(pid_, tid);
      sleeper.phase = Phase::kDone;
      return;
    case StopKind::kGroupStop:
    case StopKind::kExit:
    case StopKind::kExec:
      return detach(sleeper, 0);
  }
}

void FilteredSleeps::at_system_call(Sleeper& sleeper) {
  if (sleeper.phase == Phase::kEntering) {
    sleeper.phase = Phase::kInside;
    return go_on(sleeper, 0);
  }
  // Interrupted again, by a signal that will be reported next: if that has no effect the call goes on.
  if (!sleeper.thread->refresh() || !machine::restarts_system_call(sleeper.thread->registers))
    return detach(sleeper, 0);
  sleeper.phase = Phase::kEntering;
  (void)make_call(sleeper);
  go_on(sleeper, 0);
}

// Sets the registers so that the thread makes its call when it goes on.
Status FilteredSleeps::make_call(const Sleeper& sleeper) {
  Thread& thread = *sleeper.thread;
  Registers again = thread.registers;
  if (again.in_system_call())
    again.rewind_to_call(sleeper.number);
  else
    again.request_call(sleeper.number);
  again.forget_system_call();
  return thread.set_registers(again);
}

void FilteredSleeps::at_signal(Sleeper& sleeper, int signal) {
  Thread& thread = *sleeper.thread;
  const auto status = read_status(pid_, thread.tid);
  sleeper.phase = Phase::kEntering;
  if (status && status->ignores(signal)) return go_on(sleeper, signal);
  if (thread.refresh() && !thread.registers.in_system_call()) (void)thread.undo_rewind();
  detach(sleeper, signal);
}

void FilteredSleeps::go_on(Sleeper& sleeper, int signal) {
  // It fails only if the thread has been killed, and let_go() notices that.
  (void)ptrace_firmly(PTRACE_SYSCALL, sleeper.thread->tid, static_cast<unsigned long>(signal));
}

void FilteredSleeps::detach(Sleeper& sleeper, int signal) {
  (void)ptrace_firmly(PTRACE_DETACH, sleeper.thread->tid, static_cast<unsigned long>(signal));
  sleeper.phase = Phase::kDone;
}

// It has not come to its call, or is not seen in it: it makes the call again as the program made it.
void FilteredSleeps::give_up(Sleeper& sleeper) {
  Thread& thread = *sleeper.thread;
  sleeper.number = static_cast<uint64_t>(thread.rewound_call);
  (void)::ptrace(PTRACE_INTERRUPT, thread.tid, nullptr, nullptr);
  const StopEvent event = wait_for_stop(pid_, thread.tid, std::chrono::steady_clock::now() + kPatience);
  if (event.kind == StopKind::kInterrupt && thread.refresh()) (void)make_call(sleeper);
  detach(sleeper, event.signal);
}

bool FilteredSleeps::sleeps(const Sleeper& sleeper) const {
  const auto stat = read_stat(pid_, sleeper.thread->tid);
  return stat && stat->state == 'S';
}

}  // namespace blip::proc
