// SPDX-License-Identifier: MIT
// The registers of a stopped thread, and what the kernel's restart of system calls makes of them. Each processor has a
// header of its own with the same names.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include "machine/thread_registers_x86_64.h"
#elif defined(__aarch64__)
#include "machine/thread_registers_aarch64.h"
#else
#error "blip knows no thread registers of this processor: write machine/thread_registers_NAME.h"
#endif

namespace blip::machine {

// Results of an interrupted system call that never reach the program (<linux/errno.h>): the kernel runs the call again,
// or, for kRestartBlock, makes restart_syscall of it.
inline constexpr int64_t kRestartSys = -512;
inline constexpr int64_t kRestartNoIntr = -513;
inline constexpr int64_t kRestartNoHand = -514;
inline constexpr int64_t kRestartBlock = -516;

// The result of a call that the kernel will run again, unless a signal handler has its say.
inline bool is_restart(int64_t result) {
  return result == kRestartSys || result == kRestartNoIntr || result == kRestartNoHand ||
         result == kRestartBlock;
}

// Stopped in a system call that the kernel will run again, at pc - kSyscallLength, unless a signal handler has its say.
inline bool restarts_system_call(const ThreadRegisters& r) {
  return r.in_system_call() && is_restart(r.result());
}

// Reads and writes the registers of a thread that is stopped by ptrace. On false, errno tells why.
bool read_registers(pid_t tid, ThreadRegisters& into);
bool write_registers(pid_t tid, const ThreadRegisters& registers);

// True if calls of the thread also go to a shadow stack, which would miss those that blip makes up.
bool has_shadow_stack(pid_t tid);

// The processor's own breakpoint: the stopped thread stops before it executes `address`. False: errno tells why.
bool set_breakpoint(pid_t tid, uint64_t address);
bool clear_breakpoint(pid_t tid);

}  // namespace blip::machine
