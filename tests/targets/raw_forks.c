// SPDX-License-Identifier: MIT
// raw_forks N: children made without libc's help, N a round in each way, one after another; each calls work() ten
// times, and so does the parent.
#include <linux/sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "work.h"

static unsigned long ten(unsigned long i) {
  unsigned long sum = 0;
  for (unsigned long k = 0; k < 10; k++) sum = sum * 3 + work(i + k, "fork");
  return sum;
}

static pid_t by_syscall_fork(void) { return (pid_t)syscall(SYS_fork); }

static pid_t by_syscall_clone(void) { return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0); }

static pid_t by_syscall_clone3(void) {
  struct clone_args args = {.exit_signal = SIGCHLD};
  return (pid_t)syscall(SYS_clone3, &args, sizeof args);
}

// The number comes from where nobody who reads the code sees it.
static pid_t by_instruction(void) {
  volatile long number = SYS_fork;
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "0"(number) : "rcx", "r11", "memory");
  return (pid_t)result;
}

static void one(pid_t (*make)(void), unsigned long i) {
  unsigned long expected = ten(i);
  int status = 0;
  pid_t child = make();
  if (child == 0) _exit(ten(i) == expected ? 5 : 6);
  require(child > 0 && waitpid(child, &status, 0) == child, "a child");
  require(WIFEXITED(status) && WEXITSTATUS(status) == 5, "a child's sum");
}

int main(int argc, char** argv) {
  pid_t (*const ways[])(void) = {by_syscall_fork, by_syscall_clone, by_syscall_clone3, by_instruction};
  unsigned long n = argc > 1 ? strtoul(argv[1], 0, 0) : 10;
  say("ready");
  while (next_round()) {
    for (unsigned w = 0; w < 4; w++)
      for (unsigned long i = 0; i < n; i++) one(ways[w], i);
    say("calls=%lu", 4 * 20 * n);
    say("done");
  }
  return 0;
}
