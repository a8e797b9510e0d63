// SPDX-License-Identifier: MIT
#include "proc/thread.h"

#include <fmt/core.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstring>

#include "proc/files/cpu.h"
#include "proc/files/status.h"
#include "proc/filtered_sleep.h"

// A thread stopped in a system call looks like this (arch/x86/kernel/signal.c): rip is after the `syscall`
// instruction, orig_rax is the number, rax one of the values below. They never reach user space: on the way
// out the kernel either runs a signal handler (and decides between EINTR and a restart) or restarts the call
// at rip - 2. A plain -EINTR is not restarted, though nothing but our stop may have caused it;
// repair_spurious_eintr() deals with that. A call that stands at kRestartBlock goes on as another one,
// restart_syscall, which a seccomp filter may refuse: filtered_sleep.h.

namespace blip::proc {

namespace {

constexpr int64_t kRestartSys = -512;
constexpr int64_t kRestartNoIntr = -513;
constexpr int64_t kRestartNoHand = -514;

constexpr int kGetRseqConfiguration = 0x420f;  // PTRACE_GET_RSEQ_CONFIGURATION
constexpr int kArchPrctl = 30;                 // PTRACE_ARCH_PRCTL
constexpr uint64_t kShadowStackStatus = 0x5005;
constexpr uint64_t kShadowStackBit = 1;

// struct ptrace_rseq_configuration of <linux/ptrace.h>
struct RseqReply {
  uint64_t area;
  uint32_t size;
  uint32_t signature;
  uint32_t flags;
  uint32_t pad;
};

long raw_ptrace(int request, pid_t tid, uint64_t addr, void* data) {
  return ::ptrace(static_cast<__ptrace_request>(request), tid, addr, data);
}

}  // namespace

bool Registers::restarts_system_call() const {
  const auto result = static_cast<int64_t>(rax);
  return in_system_call() && (result == kRestartSys || result == kRestartNoIntr || result == kRestartNoHand ||
                              result == kRestartBlock);
}

bool Registers::operator==(const Registers& other) const {
  const user_regs_struct& mine = *this;
  const user_regs_struct& theirs = other;
  return std::memcmp(&mine, &theirs, sizeof mine) == 0;
}

Status Thread::set_registers(const Registers& wanted) {
  user_regs_struct raw = wanted;
  if (::ptrace(PTRACE_SETREGS, tid, nullptr, &raw) != 0)
    return Error::from_errno(errno, fmt::format("cannot set the registers of thread {}", tid));
  registers = wanted;
  return {};
}

Status Thread::refresh() {
  user_regs_struct raw{};
  if (::ptrace(PTRACE_GETREGS, tid, nullptr, &raw) != 0)
    return Error::from_errno(errno, fmt::format("cannot read the registers of thread {}", tid));
  static_cast<user_regs_struct&>(registers) = raw;
  return {};
}

Result<RseqConfig> Thread::rseq() const {
  RseqReply reply{};
  if (raw_ptrace(kGetRseqConfiguration, tid, sizeof reply, &reply) < 0) {
    if (errno == EIO || errno == EINVAL)
      return Error(ErrorKind::kUnsupported,
                   "this kernel does not tell the rseq registration of other threads", errno);
    return Error::from_errno(errno, fmt::format("cannot read the rseq registration of thread {}", tid));
  }
  return RseqConfig{TargetAddr(reply.area), reply.size, reply.signature, reply.flags};
}

uint64_t Thread::restart_pc() const {
  return registers.restarts_system_call() ? registers.rip - kSyscallLength : registers.rip;
}

bool Thread::shadow_stack() const {
  static const bool possible = shadow_stacks_possible();
  if (!possible) return false;
  uint64_t features = 0;
  const auto where = reinterpret_cast<uint64_t>(&features);
  // PTRACE_ARCH_PRCTL takes the option as data and its argument as address.
  if (raw_ptrace(kArchPrctl, tid, where, reinterpret_cast<void*>(kShadowStackStatus)) != 0) return false;
  return features & kShadowStackBit;
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
  if (!registers.in_system_call() || static_cast<int64_t>(registers.rax) != -EINTR) return {};
  // close() has given the descriptor up before it says EINTR: a second one could hit somebody else's.
  if (registers.orig_rax == SYS_close) return {};
  TRY(const uint64_t pending, interrupting_signals(pid));
  if (pending != 0) return {};
  if (delivering != 0) {
    TRY(const ProcStatus status, read_status(pid, tid));
    if (!status.ignores(delivering)) return {};
  }
  return rewind(registers.orig_rax);
}

Status Thread::hold_filtered_sleep(pid_t pid) {
  if (!registers.in_system_call() || static_cast<int64_t>(registers.rax) != kRestartBlock) return {};
  TRY(const bool filtered, has_filter(pid, tid));
  return filtered ? rewind(sleeping_call(*this)) : Status();
}

Status Thread::rewind(uint64_t number) {
  const auto result = static_cast<int64_t>(registers.rax);
  Registers again = registers;
  again.rip -= kSyscallLength;
  again.rax = number;
  again.orig_rax = static_cast<uint64_t>(-1);
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
  interrupted.rip += kSyscallLength;
  interrupted.rax = static_cast<uint64_t>(rewound_result);
  interrupted.orig_rax = static_cast<uint64_t>(rewound_call);
  TRY_OK(set_registers(interrupted));
  rewound_call = -1;
  return {};
}

}  // namespace blip::proc
