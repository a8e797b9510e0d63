// SPDX-License-Identifier: MIT
#include "proc/remote_call.h"

#include <fmt/core.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "machine/older_calls.h"
#include "machine/registers.h"
#include "machine/stub.h"
#include "machine/thread_registers.h"
#include "proc/files/status.h"
#include "proc/left_over_stub.h"
#include "proc/rseq_section.h"
#include "proc/stop_event.h"

// One call by itself, and why blip may die after any step (several at once: remote_list.cc):
//
//   1  stub -> slack          unused bytes
//   2  frame -> stack         below the red zone, unused bytes
//   3  SETREGS rip = stub     from here on the thread finishes the call, pops the frame, goes on
//   4  PTRACE_SYSCALL twice   stops at the entry and at the exit of the call; result in rax
//   5  SETREGS original       the kernel's own form, so that it restarts the interrupted call as always
//   6  stack, slack restored  nobody uses them any more
//
// PTRACE_SYSCALL and not PTRACE_SINGLESTEP: a step ends with a forced SIGTRAP, which unblocks that signal and
// resets its handler in a target that blocks or ignores it. Signals are not blocked meanwhile either (dying
// would leave the mask behind): one that arrives stops the thread before the call is made; it then gets its
// own registers back, takes the signal natively, and the call is made from wherever that has brought the
// thread. Its handler does not get to run in between, so that each such signal stays on the stack: threads
// that no handled signal can reach are preferred, and in others only a few are borne.

namespace blip::proc {

namespace {

constexpr int kMaxAttempts = 256;
constexpr int kMostHandlers = 8;         // left on a thread's stack
constexpr size_t kThreadsLookedAt = 16;  // for one that signals do not reach
constexpr int kPtraceAttempts = 3;
constexpr std::chrono::seconds kCallDeadline{5};

// Calls that wait, that overwrite what the kernel needs to restart an interrupted one, or that do not come
// back.
constexpr std::array<long, 23> kNeverCalled = {SYS_rt_sigreturn,    SYS_nanosleep,
                                               SYS_clock_nanosleep, machine::kSysPoll,
                                               SYS_ppoll,           machine::kSysSelect,
                                               SYS_pselect6,        machine::kSysEpollWait,
                                               SYS_epoll_pwait,     SYS_futex,
                                               SYS_restart_syscall, machine::kSysPause,
                                               SYS_rt_sigsuspend,   SYS_wait4,
                                               SYS_waitid,          machine::kSysFork,
                                               machine::kSysVfork,  SYS_clone,
                                               SYS_clone3,          SYS_execve,
                                               SYS_execveat,        SYS_exit,
                                               SYS_exit_group};

iovec as_iovec(std::span<const uint8_t> bytes) { return {const_cast<uint8_t*>(bytes.data()), bytes.size()}; }

// Unlike Memory these obey the page protections of the target: what they can reach, the stub can.
bool read_stack(pid_t tid, TargetAddr addr, std::span<uint8_t> into) {
  const iovec local = as_iovec(into);
  const iovec remote{reinterpret_cast<void*>(addr.value), into.size()};
  return ::process_vm_readv(tid, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(into.size());
}

bool write_stack(pid_t tid, TargetAddr addr, std::span<const uint8_t> bytes) {
  const iovec local = as_iovec(bytes);
  const iovec remote{reinterpret_cast<void*>(addr.value), bytes.size()};
  return ::process_vm_writev(tid, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes.size());
}

// The main thread's stack grows when it is touched, by the thread itself or by ptrace, but not by
// process_vm_readv.
void grow_stack(pid_t tid, TargetAddr addr) { (void)::ptrace(PTRACE_PEEKDATA, tid, addr.value, 0); }

// No handler of the program's can be called in this thread as long as it waits.
bool out_of_reach_of_handlers(pid_t pid, pid_t tid) {
  const auto status = read_status(pid, tid);
  return status && (status->caught & ~status->blocked) == 0;
}

TargetAddr frame_of(TargetAddr scratch) { return scratch + RemoteCaller::kMaxBytes; }

}  // namespace

RemoteCaller::RemoteCaller(const Attachment& attachment, Thread& thread, Memory& memory, StubSite site)
    : attachment_(&attachment),
      pid_(attachment.pid()),
      thread_(&thread),
      memory_(&memory),
      site_(std::move(site)) {}

RemoteCaller::RemoteCaller(RemoteCaller&& other) noexcept
    : attachment_(other.attachment_),
      pid_(other.pid_),
      thread_(std::exchange(other.thread_, nullptr)),
      memory_(other.memory_),
      site_(std::move(other.site_)),
      restricted_(other.restricted_),
      also_permitted_(other.also_permitted_),
      stub_written_(std::exchange(other.stub_written_, false)),
      in_stub_(std::exchange(other.in_stub_, false)),
      mark_(other.mark_),
      own_tid_(other.own_tid_),
      arena_(other.arena_),
      handlers_(other.handlers_),
      original_(other.original_),
      saved_stack_(std::move(other.saved_stack_)),
      scratch_(other.scratch_) {}

Result<RemoteCaller> RemoteCaller::create(Attachment& attachment, Memory& memory, StubSite site) {
  std::vector<Thread*> candidates;
  for (Thread& thread : attachment.threads()) candidates.push_back(&thread);
  std::stable_partition(candidates.begin(), candidates.end(), [](const Thread* thread) {
    return machine::restarts_system_call(thread->registers);
  });
  const auto looked_at = candidates.begin() + std::min(candidates.size(), kThreadsLookedAt);
  const auto best = std::find_if(candidates.begin(), looked_at, [&](const Thread* thread) {
    return out_of_reach_of_handlers(attachment.pid(), thread->tid);
  });
  if (best != looked_at) std::rotate(candidates.begin(), best, best + 1);
  return create_in_one_of(candidates, attachment, memory, std::move(site));
}

Result<RemoteCaller> RemoteCaller::create_in(pid_t tid, Attachment& attachment, Memory& memory,
                                             StubSite site) {
  std::vector<Thread*> candidates;
  for (Thread& thread : attachment.threads())
    if (thread.tid == tid) candidates.push_back(&thread);
  return create_in_one_of(candidates, attachment, memory, std::move(site));
}

Result<RemoteCaller> RemoteCaller::create_in_one_of(std::span<Thread* const> candidates,
                                                    Attachment& attachment, Memory& memory, StubSite site) {
  TRY_OK(clear_left_over_stub(attachment, memory, site));
  Error last(ErrorKind::kGone, fmt::format("process {} has no stopped thread", attachment.pid()));
  for (Thread* thread : candidates) {
    RemoteCaller caller(attachment, *thread, memory, site);
    const Status ready = caller.prepare();
    if (ready) return caller;
    last = ready.error();
  }
  return last;
}

Status RemoteCaller::prepare() {
  if (!thread_->stopped)
    return Error(ErrorKind::kGone, fmt::format("thread {} is not stopped", thread_->tid));
  if (!thread_->registers.runs_native_code())
    return Error(ErrorKind::kUnsupported, fmt::format("thread {} runs 32-bit code", thread_->tid));
  TRY_OK(check_seccomp());
  TRY_OK(leave_rseq_section(*thread_, *memory_));
  return save_stack();
}

Status RemoteCaller::check_seccomp() {
  TRY(const ProcStatus status, read_status(pid_, thread_->tid));
  choose_mark(status);
  if (status.seccomp_mode == 0) return {};
  const unsigned long options = kTraceOptions | PTRACE_O_SUSPEND_SECCOMP;
  if (::ptrace(PTRACE_SETOPTIONS, thread_->tid, nullptr, options) == 0) return {};
  if (status.seccomp_mode == 1)
    return Error(
        ErrorKind::kUnsupported,
        fmt::format("process {} may only read and write (seccomp strict mode): run blip as root", pid_));
  restricted_ = true;
  mark_ = 0;
  return {};
}

Status RemoteCaller::save_stack() {
  original_ = thread_->registers;
  const TargetAddr top((original_.sp() - machine::host().convention.red_zone) & ~uint64_t{15});
  saved_stack_.resize(kMaxBytes + sizeof(machine::StubFrame));
  scratch_ = top - saved_stack_.size();
  if (!read_stack(thread_->tid, scratch_, saved_stack_)) grow_stack(thread_->tid, scratch_);
  if (!read_stack(thread_->tid, scratch_, saved_stack_) || !write_stack(thread_->tid, scratch_, saved_stack_))
    return Error(ErrorKind::kUnsupported, fmt::format("thread {} has no room on its stack", thread_->tid));
  return {};
}

Result<uint64_t> RemoteCaller::call(long number, std::span<const uint64_t> arguments) {
  CallList list;
  list.add(number);
  std::array<uint64_t, 6>& places = list.calls().front().arguments;
  std::copy_n(arguments.begin(), std::min(arguments.size(), places.size()), places.begin());
  TRY_OK(run(list));
  return list.result(0).with_context(fmt::format("process {}: system call {}", pid_, number));
}

Status RemoteCaller::run(CallList& list) {
  for (const CallList::Call& call : list.calls()) TRY_OK(check_permitted(call.number));
  const auto before = time_without_cpu(pid_, thread_->tid);
  Status made = run_all(list.calls());
  thread_->waited_for_cpu += time_without_cpu(pid_, thread_->tid) - before;
  return made;
}

Status RemoteCaller::run_all(std::span<CallList::Call> left) {
  for (int attempt = 0; !left.empty(); ++attempt) {
    if (attempt == kMaxAttempts) return signals_all_the_time();
    if (mark_ == 0) {
      TRY(left.front().result, run_alone(left.front()));
      left = left.subspan(1);
      attempt = 0;
      continue;
    }
    TRY(const size_t made, run_together(left));
    left = left.subspan(made);
    if (made != 0) attempt = 0;
  }
  return {};
}

Status RemoteCaller::check_permitted(long number) const {
  if (!thread_ || !thread_->stopped)
    return Error(ErrorKind::kGone, fmt::format("process {} has ended", pid_));
  if (std::find(kNeverCalled.begin(), kNeverCalled.end(), number) != kNeverCalled.end())
    return Error(ErrorKind::kUnsupported, fmt::format("system call {} is not for remote use", number));
  if (restricted_ && number != SYS_mmap && number != SYS_munmap && number != also_permitted_)
    return Error(ErrorKind::kUnsupported,
                 fmt::format("process {} filters its system calls (seccomp): call {} might kill "
                             "it; run blip as root",
                             pid_, number));
  return {};
}

Result<int64_t> RemoteCaller::run_alone(const CallList::Call& call) {
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    TRY_OK(enter(call));
    TRY(const std::optional<int64_t> result, run_to_exit());
    if (!result || machine::is_restart(*result)) continue;
    if (restricted_) TRY_OK(swallow_sigsys());
    return *result;
  }
  return signals_all_the_time();
}

Error RemoteCaller::signals_all_the_time() const {
  return Error(ErrorKind::kBusy,
               fmt::format("process {} receives signals all the time: try again later", pid_));
}

Status RemoteCaller::enter(const CallList::Call& call) {
  TRY_OK(write_stub());
  std::array<uint64_t, 6> arguments = call.arguments;
  if (!call.bytes.empty()) {
    arguments[0] = scratch_.value;
    TRY_OK(write(scratch_, call.bytes));
  }
  Registers entry = original_;
  entry.forget_system_call();
  entry.set_pc((site_.addr + machine::kStubCall).value);
  entry.set_sp(frame_of(scratch_).value);
  entry.request_call(static_cast<uint64_t>(call.number));
  entry.set_arguments(arguments);
  TRY_OK(thread_->set_registers(entry));
  in_stub_ = true;
  return {};
}

// And the frame with which it ends.
Status RemoteCaller::write_stub() {
  if (stub_written_ && in_stub_) return {};
  const Registers resume = machine::resume_state(original_);
  const machine::StubFrame frame = machine::make_stub_frame(resume);
  const auto stub = machine::make_stub(resume.pc());
  stub_written_ = true;
  TRY_OK(memory_->write(site_.addr, stub));
  return write(frame_of(scratch_), {reinterpret_cast<const uint8_t*>(&frame), sizeof frame});
}

Status RemoteCaller::write(TargetAddr at, std::span<const uint8_t> bytes) {
  if (write_stack(thread_->tid, at, bytes)) return {};
  return Error(ErrorKind::kSystem, fmt::format("cannot write the stack of thread {}", thread_->tid));
}

Result<std::optional<int64_t>> RemoteCaller::run_to_exit() {
  const auto deadline = std::chrono::steady_clock::now() + kCallDeadline;
  for (;;) {
    // A thread left at the entry of the call would make it with the next call's registers.
    long resumed = -1;
    for (int attempt = 0; attempt < kPtraceAttempts && resumed != 0; ++attempt)
      resumed = ::ptrace(PTRACE_SYSCALL, thread_->tid, nullptr, nullptr);
    if (resumed != 0) return Error::from_errno(errno, fmt::format("cannot resume thread {}", thread_->tid));
    const StopEvent event = wait_for_stop(pid_, thread_->tid, deadline);
    switch (event.kind) {
      case StopKind::kSyscall: {
        TRY(const std::optional<int64_t> result, take_result());
        if (result) return result;
        break;
      }
      case StopKind::kInterrupt:
      case StopKind::kGroupStop:
        break;
      case StopKind::kSignal:
        TRY_OK(deliver_signal(event.signal));
        return std::nullopt;
      case StopKind::kRunning:
        thread_->stopped = false;
        return Error(ErrorKind::kTimeout,
                     fmt::format("a system call in thread {} takes too long", thread_->tid));
      case StopKind::kEnded:
      case StopKind::kExit:
      case StopKind::kExec:
        thread_->stopped = event.kind != StopKind::kEnded;
        in_stub_ = false;
        return Error(ErrorKind::kGone, fmt::format("process {} has ended", pid_), ESRCH);
    }
  }
}

// The result at the exit of the stub's call; none at its entry.
Result<std::optional<int64_t>> RemoteCaller::take_result() {
  __ptrace_syscall_info info{};
  long got = -1;
  for (int attempt = 0; attempt < kPtraceAttempts && got < 0; ++attempt)
    got = ::ptrace(PTRACE_GET_SYSCALL_INFO, thread_->tid, sizeof info, &info);
  if (got < 0)
    return Error::from_errno(errno, fmt::format("cannot read the result in thread {}", thread_->tid));
  if (info.instruction_pointer != (site_.addr + machine::kStubReturn).value) {
    in_stub_ = false;  // it has restored itself and gone on: nothing may be put back
    return Error(ErrorKind::kBusy, fmt::format("thread {} was moved by somebody else", thread_->tid));
  }
  if (info.op != PTRACE_SYSCALL_INFO_EXIT) return std::nullopt;
  return info.exit.rval;
}

Status RemoteCaller::leave_stub() {
  if (!in_stub_) return {};
  TRY_OK(thread_->set_registers(original_));
  in_stub_ = false;
  if (!write_stack(thread_->tid, scratch_, saved_stack_))
    return Error(ErrorKind::kSystem, fmt::format("cannot restore the stack of thread {}", thread_->tid));
  return {};
}

Status RemoteCaller::deliver_signal(int signal) {
  thread_->pending_signal = signal;
  TRY_OK(leave_stub());
  const auto status = read_status(pid_, thread_->tid);
  if (status && !status->ignores(signal)) TRY_OK(thread_->undo_rewind());
  TRY_OK(thread_->resume_with_signal_and_interrupt());
  const StopEvent event = wait_for_stop(pid_, thread_->tid, std::chrono::steady_clock::now() + kCallDeadline);
  if (event.kind == StopKind::kRunning)
    return Error(ErrorKind::kTimeout,
                 fmt::format("thread {} does not stop after signal {}", thread_->tid, signal));
  if (event.kind == StopKind::kEnded)
    return Error(ErrorKind::kGone, fmt::format("process {} has ended", pid_), ESRCH);
  thread_->stopped = true;
  thread_->pending_signal = event.signal;
  TRY_OK(thread_->refresh());
  if (event.kind == StopKind::kSignal) return deliver_signal(event.signal);
  if (status && status->catches(signal) && ++handlers_ > kMostHandlers) {
    handlers_ = 0;  // as many again for the calls that undo what was done
    TRY_OK(save_stack());
    return signals_all_the_time();
  }
  return save_stack();
}

// A filter may answer a call with a forced SIGSYS. It is ours and not the program's: it is waiting to be
// delivered as soon as the thread goes on, which is in the stub, and is thrown away there.
Status RemoteCaller::swallow_sigsys() {
  TRY(const ProcStatus status, read_status(pid_, thread_->tid));
  if (!(status.pending & (uint64_t{1} << (SIGSYS - 1)))) return {};
  const auto deadline = std::chrono::steady_clock::now() + kCallDeadline;
  ::ptrace(PTRACE_CONT, thread_->tid, nullptr, nullptr);
  const StopEvent event = wait_for_stop(pid_, thread_->tid, deadline);
  thread_->pending_signal = event.signal == SIGSYS ? 0 : event.signal;
  if (event.kind == StopKind::kSignal) {
    TRY_OK(thread_->resume_with_signal_and_interrupt());
    thread_->stopped = wait_for_stop(pid_, thread_->tid, deadline).kind != StopKind::kRunning;
  }
  return Error(ErrorKind::kPermission, fmt::format("process {}: its seccomp filter forbids the call", pid_),
               EPERM);
}

void RemoteCaller::finish() {
  if (!thread_ || !thread_->stopped) return;
  // A thread that cannot be put back keeps the stub, which does it when the thread goes on.
  for (int attempt = 0; in_stub_ && attempt < kPtraceAttempts; ++attempt) (void)leave_stub();
  if (in_stub_ || !stub_written_) return;
  if (memory_->write(site_.addr, site_.original)) stub_written_ = false;
}

}  // namespace blip::proc
