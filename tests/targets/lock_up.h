// SPDX-License-Identifier: MIT
// A seccomp filter that allows read, write, close, mmap, munmap and the end; with anything else `action`
// happens.
#pragma once
#include "allow.h"
#include "target.h"

static void lock_up(unsigned action) {
  struct sock_filter filter[] = {
      LOAD_CALL,
      ALLOW(read),
      ALLOW(write),
      ALLOW(close),
      ALLOW(mmap),
      ALLOW(munmap),
      ALLOW(exit_group),
      ALLOW(restart_syscall),
      BPF_STMT(BPF_RET | BPF_K, action),
  };
  struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
  require(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs");
  require(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0), "seccomp");
}
