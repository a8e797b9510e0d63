// SPDX-License-Identifier: MIT
// A seccomp filter that allows read, write, close, mmap, munmap and the end; with anything else `action`
// happens.
#pragma once
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "target.h"

#define ALLOW(name) \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static void lock_up(unsigned action) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
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
