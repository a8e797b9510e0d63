// SPDX-License-Identifier: MIT
// What a seccomp filter sees of a stopped thread.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "base/result.h"
#include "machine/thread_registers.h"

namespace blip::proc {

// True if a seccomp filter sees the system calls of this stopped thread.
Result<bool> has_filter(pid_t pid, pid_t tid);

// The number of the call that a thread stopped at kRestartBlock sleeps in. SYS_restart_syscall if the thread
// has been restarted before and its code does not tell the call that it began.
uint64_t sleeping_call(pid_t tid, const machine::ThreadRegisters& registers);

}  // namespace blip::proc
