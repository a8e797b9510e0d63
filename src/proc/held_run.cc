// SPDX-License-Identifier: MIT
#include "proc/held_run.h"

#include <fmt/core.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstddef>
#include <thread>
#include <utility>

#include "machine/thread_registers.h"
#include "proc/files/permission.h"
#include "proc/files/status.h"
#include "proc/thread.h"

// How a child can run although it is stopped by SIGSTOP: that stop is a state of the process, which a seized
// thread that PTRACE_CONT resumes leaves as it is (kernel/signal.c, SIGNAL_STOP_STOPPED). When the tracer
// detaches, or dies, the thread falls back into the stop before its next instruction. So neither SIGCONT nor
// a second SIGSTOP is needed, and there is no moment between "traced" and "held" at which the child could get
// away.
//
// A thread that the child makes meanwhile is not traced, and the stop holds it (copy_process gives it
// JOBCTL_STOP_PENDING). Where code of the program's own runs, which may wait for its threads,
// let_group_run() ends the stop and hold() sends a SIGSTOP. That one cannot be missed either: whoever
// dequeues it marks all threads in the same critical section, and a traced thread looks before it returns to
// user space.
//
// A breakpoint ends with a forced SIGTRAP, which unblocks that signal; what the child was started with is put
// back.

namespace blip::proc {

namespace {

constexpr int kHoldAttempts = 64;
constexpr std::chrono::milliseconds kStopPatience{20};
constexpr std::chrono::microseconds kLookPause{100};
constexpr uint64_t kTrapBit = uint64_t{1} << (SIGTRAP - 1);
constexpr size_t kKernelSigsetSize = 8;

unsigned long options() { return kTraceOptions | PTRACE_O_EXITKILL; }

}  // namespace

StopEvent wait_for_child(pid_t pid) {
  for (;;) {
    siginfo_t info{};
    if (::waitid(P_PID, static_cast<id_t>(pid), &info, WSTOPPED | WEXITED | WNOWAIT | __WALL) != 0) {
      if (errno == EINTR) continue;
      return {StopKind::kEnded, 0};
    }
    if (info.si_code == CLD_EXITED || info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED)
      return {StopKind::kEnded, 0};
    const StopEvent event = poll_stop(pid);
    if (event.kind != StopKind::kRunning) return event;
  }
}

Result<HeldRun> HeldRun::begin(pid_t pid) {
  if (::ptrace(PTRACE_SEIZE, pid, nullptr, options()) != 0) {
    const int error = errno;
    const auto status = read_status(pid, pid);
    if (!status && status.error().kind() != ErrorKind::kGone) return status.error();
    if (!status || error == ESRCH)
      return Error(ErrorKind::kGone, fmt::format("process {} has ended", pid), ESRCH);
    if (error == EPERM && status->tracer_pid == 0) return explain_denial(gather_access_facts(pid, *status));
    return Error::from_errno(error, fmt::format("cannot trace process {}", pid));
  }
  HeldRun run(pid);
  if (::ptrace(PTRACE_INTERRUPT, pid, nullptr, nullptr) != 0) return run.ptrace_error("stop");
  const StopEvent event = wait_for_child(pid);
  if (event.kind == StopKind::kEnded)
    return Error(ErrorKind::kGone, fmt::format("process {} has ended", pid), ESRCH);
  if (event.kind != StopKind::kGroupStop)
    return Error(ErrorKind::kBusy,
                 fmt::format("process {} was continued by another program before blip was ready", pid));
  uint64_t mask = 0;
  if (::ptrace(PTRACE_GETSIGMASK, pid, kKernelSigsetSize, &mask) == 0)
    run.trap_was_blocked_ = mask & kTrapBit;
  return run;
}

HeldRun::HeldRun(HeldRun&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)),
      break_addr_(other.break_addr_),
      stepping_(other.stepping_),
      trap_was_blocked_(other.trap_was_blocked_),
      swallow_continue_(other.swallow_continue_) {}

HeldRun::~HeldRun() {
  if (pid_ != 0) ::kill(pid_, SIGKILL);
}

Error HeldRun::ptrace_error(const char* what) const {
  if (errno == ESRCH) return Error(ErrorKind::kGone, fmt::format("process {} has ended", pid_), ESRCH);
  return Error::from_errno(errno, fmt::format("cannot {} process {}", what, pid_));
}

Status HeldRun::break_at(TargetAddr addr) {
  break_addr_ = addr;
  if (!stepping_ && !set_breakpoint(addr, true)) stepping_ = true;
  return {};
}

// Sent while the only thread is in a ptrace stop, and so delivered to it, if it does not block it; a blocked
// one is discarded by hold()'s SIGSTOP.
Status HeldRun::let_group_run() {
  if (::kill(pid_, SIGCONT) != 0) return ptrace_error("continue");
  swallow_continue_ = true;
  return {};
}

Status HeldRun::set_breakpoint(TargetAddr addr, bool enabled) {
  const bool done = enabled ? machine::set_breakpoint(pid_, addr.value) : machine::clear_breakpoint(pid_);
  return done ? Status() : ptrace_error("set a breakpoint in");
}

Result<StopEvent> HeldRun::resume() {
  int signal = 0;
  for (;;) {
    const auto request = stepping_ && break_addr_.value ? PTRACE_SINGLESTEP : PTRACE_CONT;
    if (::ptrace(request, pid_, nullptr, signal) != 0 && errno != ESRCH) return ptrace_error("resume");
    const StopEvent event = wait_for_child(pid_);
    signal = 0;
    if (event.kind == StopKind::kExec) return event;
    if (event.kind == StopKind::kEnded) {
      pid_ = 0;
      return event;
    }
    if (event.kind != StopKind::kSignal) continue;
    signal = event.signal;
    if (signal == SIGCONT && std::exchange(swallow_continue_, false)) signal = 0;
    if (signal != SIGTRAP || break_addr_ == TargetAddr()) continue;
    TRY(const Trap trap, explain_trap());
    if (trap == Trap::kThere) return StopEvent{StopKind::kInterrupt, 0};
    if (trap == Trap::kElsewhere) signal = 0;
  }
}

Result<HeldRun::Trap> HeldRun::explain_trap() const {
  siginfo_t info{};
  if (::ptrace(PTRACE_GETSIGINFO, pid_, nullptr, &info) != 0) return ptrace_error("look at");
  // An int3 of the program's own comes with SI_KERNEL, a signal sent with SI_USER or the like.
  if (info.si_code != TRAP_HWBKPT && info.si_code != TRAP_TRACE && info.si_code != TRAP_BRKPT)
    return Trap::kProgramsOwn;
  Thread thread;
  thread.tid = pid_;
  TRY_OK(thread.refresh());
  return thread.registers.pc() == break_addr_.value ? Trap::kThere : Trap::kElsewhere;
}

void HeldRun::put_trap_back_into_mask() {
  uint64_t mask = 0;
  if (!trap_was_blocked_ || ::ptrace(PTRACE_GETSIGMASK, pid_, kKernelSigsetSize, &mask) != 0) return;
  mask |= kTrapBit;
  (void)::ptrace(PTRACE_SETSIGMASK, pid_, kKernelSigsetSize, &mask);
}

// Somebody's SIGCONT has ended the stop. The child takes the new SIGSTOP before it runs any code; an
// interrupt would come before the signal, so one is sent only if another SIGCONT has undone it.
Result<StopEvent> HeldRun::send_stop() {
  ::kill(pid_, SIGSTOP);
  if (::ptrace(PTRACE_CONT, pid_, nullptr, nullptr) != 0) return ptrace_error("hold");
  const StopEvent event = wait_for_stop(pid_, pid_, std::chrono::steady_clock::now() + kStopPatience);
  if (event.kind != StopKind::kRunning) return event;
  if (::ptrace(PTRACE_INTERRUPT, pid_, nullptr, nullptr) != 0) return ptrace_error("hold");
  return wait_for_child(pid_);
}

Status HeldRun::hold() {
  if (break_addr_.value && !stepping_) TRY_OK(set_breakpoint(break_addr_, false));
  put_trap_back_into_mask();
  int signal = 0;
  for (int attempt = 0; attempt < kHoldAttempts; ++attempt) {
    // A thread with an interrupt pending stops again before it runs any code of the program.
    if (::ptrace(PTRACE_INTERRUPT, pid_, nullptr, nullptr) != 0 ||
        ::ptrace(PTRACE_CONT, pid_, nullptr, signal) != 0)
      return ptrace_error("hold");
    StopEvent event = wait_for_child(pid_);
    if (event.kind == StopKind::kInterrupt) {
      TRY(event, send_stop());
    }
    signal = event.kind == StopKind::kSignal ? event.signal : 0;
    if (event.kind == StopKind::kEnded)
      return Error(ErrorKind::kGone, fmt::format("process {} has ended", std::exchange(pid_, 0)), ESRCH);
    if (event.kind != StopKind::kGroupStop) continue;
    if (::ptrace(PTRACE_DETACH, pid_, nullptr, nullptr) != 0) return ptrace_error("let go of");
    pid_ = 0;
    return {};
  }
  return Error(ErrorKind::kBusy,
               fmt::format("process {} is continued by another program all the time", pid_));
}

namespace {

// Runs it, again if it stops at once for an interrupt that came twice or for a signal, until it waits for
// something: then it was given a CPU, which an interrupt that comes too early would not let it use. Stopped
// at the end.
StopEvent run_until_it_waits(pid_t pid, pid_t tid, std::chrono::steady_clock::time_point deadline) {
  StopEvent event;
  for (;;) {
    const int signal = event.kind == StopKind::kSignal ? event.signal : 0;
    if (::ptrace(PTRACE_CONT, tid, nullptr, signal) != 0) return {StopKind::kEnded, 0};
    for (bool done = false; !done;) {
      std::this_thread::sleep_for(kLookPause);
      event = poll_stop(tid);
      if (event.kind == StopKind::kEnded) return event;
      if (event.kind != StopKind::kRunning) break;
      const auto stat = read_stat(pid, tid);
      done = !stat || stat->state == 'S' || stat->state == 'D' || std::chrono::steady_clock::now() > deadline;
    }
    if (event.kind == StopKind::kRunning) break;
  }
  (void)::ptrace(PTRACE_INTERRUPT, tid, nullptr, nullptr);
  return wait_for_child(tid);
}

}  // namespace

// By the same way as a HeldRun: resumed by its tracer in spite of the stop, which takes it back when the
// tracer lets go.
Status run_held_thread(pid_t pid, pid_t tid, std::chrono::milliseconds moment) {
  if (::ptrace(PTRACE_SEIZE, tid, nullptr, options()) != 0) {
    if (errno == ESRCH) return {};
    return Error::from_errno(errno, fmt::format("cannot trace thread {}", tid));
  }
  (void)::ptrace(PTRACE_INTERRUPT, tid, nullptr, nullptr);
  if (wait_for_child(tid).kind == StopKind::kEnded) return {};
  const StopEvent event = run_until_it_waits(pid, tid, std::chrono::steady_clock::now() + moment);
  if (event.kind == StopKind::kEnded) return {};
  const int signal = event.kind == StopKind::kSignal ? event.signal : 0;
  if (::ptrace(PTRACE_DETACH, tid, nullptr, signal) != 0 && errno != ESRCH)
    return Error::from_errno(errno, fmt::format("cannot let go of thread {}", tid));
  return {};
}

}  // namespace blip::proc
