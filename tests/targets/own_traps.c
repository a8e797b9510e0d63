// SPDX-License-Identifier: MIT
// own_traps: handles SIGTRAP, SIGSEGV and SIGILL itself and raises them between calls of work(); all other
// signals are blocked.
#include <setjmp.h>

#include "work.h"

// Touches no memory in its first instructions: a fault there would have to show the program's own address.
PROBED unsigned long mix(unsigned long i) {
  __asm__ volatile("" : "+r"(i));
  return (i ^ 0x9e3779b97f4a7c15) * 31;
}

static sigjmp_buf back;
static volatile int seen[64];
static void* volatile nowhere = (void*)8;

static void on_trap(int signal) {
  seen[signal]++;
  if (signal != SIGTRAP) siglongjmp(back, 1);
}

static void raise_all(void) {
  __asm__ volatile("int3");
  if (!sigsetjmp(back, 1)) *(volatile int*)nowhere = 1;
  if (!sigsetjmp(back, 1)) __asm__ volatile("ud2");
}

int main(void) {
  struct sigaction action = {.sa_handler = on_trap};
  sigset_t all;
  sigfillset(&all);
  sigdelset(&all, SIGTRAP);
  sigdelset(&all, SIGSEGV);
  sigdelset(&all, SIGILL);
  sigprocmask(SIG_SETMASK, &all, 0);
  sigaction(SIGTRAP, &action, 0);
  sigaction(SIGSEGV, &action, 0);
  sigaction(SIGILL, &action, 0);
  say("ready");
  for (int total = 0; next_round();) {
    unsigned long sum = 0;
    for (unsigned long i = 0; i < 100; i++) {
      sum += work(i, "trap") + mix(i);
      raise_all();
    }
    total += 100;
    require(seen[SIGTRAP] == total && seen[SIGSEGV] == total && seen[SIGILL] == total, "every signal, once");
    say("calls=100 checksum=%lx", sum);
    say("done");
  }
  return 0;
}
