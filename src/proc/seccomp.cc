// SPDX-License-Identifier: MIT
#include "proc/seccomp.h"

#include <sys/ptrace.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "machine/older_calls.h"
#include "proc/files/status.h"

namespace blip::proc {

namespace {

constexpr int kSeccompGetMetadata = 0x420d;  // PTRACE_SECCOMP_GET_METADATA
constexpr int kFilterMode = 2;
constexpr std::array kSleepingCalls = {long{machine::kSysPoll}, long{SYS_nanosleep},
                                       long{SYS_clock_nanosleep}, long{SYS_futex}};

// struct seccomp_metadata of <linux/ptrace.h>
struct Metadata {
  uint64_t filter_off = 0;
  uint64_t flags = 0;
};

}  // namespace

// One call of a microsecond for who may ask; the status file takes twenty, while the target waits.
Result<bool> has_filter(pid_t pid, pid_t tid) {
  Metadata metadata;
  const long got =
      ::ptrace(static_cast<__ptrace_request>(kSeccompGetMetadata), tid, sizeof metadata, &metadata);
  if (got >= 0) return true;
  if (errno == EINVAL) return false;  // not in filter mode
  TRY(const ProcStatus status, read_status(pid, tid));
  return status.seccomp_mode == kFilterMode;
}

uint64_t sleeping_call(pid_t tid, const machine::ThreadRegisters& registers) {
  if (registers.system_call() != SYS_restart_syscall) return registers.system_call();
  errno = 0;
  const long word = ::ptrace(PTRACE_PEEKTEXT, tid, registers.pc() - sizeof(long), nullptr);
  if (errno != 0) return SYS_restart_syscall;
  const auto number = machine::call_in_code(static_cast<uint64_t>(word));
  const bool known =
      number && std::find(kSleepingCalls.begin(), kSleepingCalls.end(), *number) != kSleepingCalls.end();
  return known ? *number : SYS_restart_syscall;
}

}  // namespace blip::proc
