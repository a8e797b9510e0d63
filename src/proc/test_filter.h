// SPDX-License-Identifier: MIT
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cstdint>

namespace blip::proc::test {

// For the calling thread alone; it allows everything. False: it could not be installed.
inline bool install_filter() {
  sock_filter allow[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program{1, allow};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// Kills a process that makes the call restart_syscall, or poll with another timeout; allows all else.
inline bool forbid_restarts(uint32_t poll_timeout) {
  constexpr uint32_t kTimeout = offsetof(seccomp_data, args) + 2 * sizeof(uint64_t);
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_restart_syscall, 4, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_poll, 0, 2),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kTimeout),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, poll_timeout, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  const sock_fprog program{sizeof code / sizeof *code, code};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace blip::proc::test
