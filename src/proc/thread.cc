// SPDX-License-Identifier: MIT
#include "proc/thread.h"

#include <fmt/core.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include <cerrno>

#include "machine/thread_registers.h"
#include "proc/files/cpu.h"
#include "proc/files/status.h"
#include "proc/seccomp.h"

// A thread stopped in a system call holds one of the results machine::is_restart() knows. They never reach user
// space: on the way out the kernel either runs a signal handler (and decides between EINTR and a restart) or
// restarts the call. A plain -EINTR is not restarted, though nothing but our stop may have caused it;
// repair_spurious_eintr() deals with that. A call that stands at kRestartBlock goes on as another one,
// restart_syscall, which a seccomp filter may refuse: filtered_sleep.h.

namespace blip::proc {

namespace {

constexpr int kGetRseqConfiguration = 0x420f;  // PTRACE_GET_RSEQ_CONFIGURATION

// struct ptrace_rseq_configuration of <linux/ptrace.h>
struct RseqReply {
  uint64_t area;
  uint32_t size;
  uint32_t signature;
  uint32_t flags;
  uint32_t pad;
};

}  // namespace

Status Thread::set_registers(const Registers& wanted) {
  if (!machine::write_registers(tid, wanted))
    return Error::from_errno(errno, fmt::format("cannot set the registers of thread {}", tid));
  registers = wanted;
  return {};
}

Status Thread::refresh() {
  Registers now;
  if (!machine::read_registers(tid, now))
    return Error::from_errno(errno, fmt::format("cannot read the registers of thread {}", tid));
  registers = now;
  return {};
}

Result<RseqConfig> Thread::rseq() const {
  RseqReply reply{};
  if (::ptrace(static_cast<__ptrace_request>(kGetRseqConfiguration), tid, sizeof reply, &reply) < 0) {
    if (errno == EIO || errno == EINVAL)
      return Error(ErrorKind::kUnsupported,
                   "this kernel does not tell the rseq registration of other threads", errno);
    return Error::from_errno(errno, fmt::format("cannot read the rseq registration of thread {}", tid));
  }
  return RseqConfig{TargetAddr(reply.area), reply.size, reply.signature, reply.flags};
}

uint64_t Thread::restart_pc() const {
  return registers.pc() - (machine::restarts_system_call(registers) ? machine::kSyscallLength : 0);
}

bool Thread::shadow_stack() const {
  static const bool possible = shadow_stacks_possible();
  return possible && machine::has_shadow_stack(tid);
}

// Two system calls of a microsecond; the status file takes twenty, for each of what may be a thousand
// threads.
bool Thread::queues_are_empty() const {
  for (const uint32_t queue : {uint32_t{0}, uint32_t{PTRACE_PEEKSIGINFO_SHARED}}) {
    __ptrace_peeksiginfo_args first{.off = 0, .flags = queue, .nr = 1};
    siginfo_t info;
    if (::ptrace(PTRACE_PEEKSIGINFO, tid, &first, &info) != 0) return false;
  }
  return true;
}

Result<uint64_t> Thread::interrupting_signals(pid_t pid) const {
  if (queues_signals && queues_are_empty()) return uint64_t{0};
  TRY(const ProcStatus status, read_status(pid, tid));
  return status.interrupting_signals();
}

Status Thread::refresh_and_repair(pid_t pid, int delivering) {
  constexpr int kAttempts = 3;
  Status done;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    done = refresh();
    if (done) done = repair_spurious_eintr(pid, delivering);
    if (done && delivering == 0) done = hold_filtered_sleep(pid);
    if (done) break;
  }
  return done;
}

Status Thread::repair_spurious_eintr(pid_t pid, int delivering) {
  if (!registers.in_system_call() || registers.result() != -EINTR) return {};
  // close() has given the descriptor up before it says EINTR: a second one could hit somebody else's.
  if (registers.system_call() == SYS_close) return {};
  TRY(const uint64_t pending, interrupting_signals(pid));
  if (pending != 0) return {};
  if (delivering != 0) {
    TRY(const ProcStatus status, read_status(pid, tid));
    if (!status.ignores(delivering)) return {};
  }
  return rewind(registers.system_call());
}

Status Thread::hold_filtered_sleep(pid_t pid) {
  if (!registers.in_system_call() || registers.result() != machine::kRestartBlock) return {};
  TRY(const bool filtered, has_filter(pid, tid));
  return filtered ? rewind(sleeping_call(tid, registers)) : Status();
}

Status Thread::rewind(uint64_t number) {
  const int64_t result = registers.result();
  Registers again = registers;
  again.rewind_to_call(number);
  TRY_OK(set_registers(again));
  rewound_call = static_cast<int64_t>(number);
  rewound_result = result;
  return {};
}

Status Thread::resume_with_signal_and_interrupt() {
  if (::ptrace(PTRACE_INTERRUPT, tid, nullptr, nullptr) != 0 ||
      ::ptrace(PTRACE_CONT, tid, nullptr, pending_signal) != 0)
    return Error::from_errno(errno,
                             fmt::format("cannot pass signal {} on to thread {}", pending_signal, tid));
  stopped = false;
  pending_signal = 0;
  return {};
}

Status Thread::undo_rewind() {
  if (rewound_call < 0) return {};
  Registers interrupted = registers;
  interrupted.return_from_call(static_cast<uint64_t>(rewound_call), rewound_result);
  TRY_OK(set_registers(interrupted));
  rewound_call = -1;
  return {};
}

}  // namespace blip::proc
