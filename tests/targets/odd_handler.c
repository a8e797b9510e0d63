// SPDX-License-Identifier: MIT
// odd_handler reset|short: a handler sleeps on top of a probed function while the tracer leaves. It takes
// itself away when it begins (SA_RESETHAND), so that no signal is caught any more; or it returns through a
// restorer of its own.
#include <sys/syscall.h>
#include <time.h>

#include "target.h"
#include "work.h"

static volatile int interrupted;

PROBED int hammered(int a) {
  __asm__ volatile("" : "+r"(a));
  return a * 1000003 + 1;
}

static void sleeps(int signal) {
  (void)signal;
  struct timespec left = {1, 500000000};
  while (nanosleep(&left, &left)) {
  }
  interrupted = 1;
}

void short_restorer(void);
__asm__(".globl short_restorer\nshort_restorer: mov $15, %eax\n syscall\n");

static void catch_alarm(int is_short) {
  if (!is_short) {
    struct sigaction action = {.sa_handler = sleeps, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGALRM, &action, 0);
    return;
  }
  struct {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(void);
    unsigned long mask;
  } action = {sleeps, 0x04000000 /* SA_RESTORER */, short_restorer, 0};
  require(syscall(SYS_rt_sigaction, SIGALRM, &action, 0, 8) == 0, "rt_sigaction");
}

int main(int argc, char** argv) {
  const int is_short = argc > 1 && !strcmp(argv[1], "short");
  say("ready");
  while (next_round()) {
    catch_alarm(is_short);
    ualarm(400000, 0);
    for (interrupted = 0; !interrupted;) require(hammered(1) == 1000004, "the product");
    say("done");
  }
  return 0;
}
