// SPDX-License-Identifier: MIT
// forbidden tsc|strict: a program that may not read the cycle counter, or is in strict seccomp mode, where only
// read, write, exit and sigreturn are allowed.
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "work.h"

int main(int argc, char** argv) {
  if (argc > 1 && !strcmp(argv[1], "strict"))
    require(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0), "strict mode");
  else
    require(!prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0), "PR_SET_TSC");
  say("ready");
  while (next_round()) {
    unsigned long sum = 0;
    for (unsigned long i = 0; i < 100; i++) sum += work(i, "forbidden");
    say("calls=100 checksum=%lx", sum);
    say("done");
  }
  syscall(SYS_exit, 0);
}
