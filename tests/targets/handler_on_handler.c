// SPDX-License-Identifier: MIT
// handler_on_handler: a thread hammers a probed function; a handler interrupts it, and on top of that, on another
// stack, one that sleeps while the tracer leaves. Then everything returns to where it was interrupted.
#include <time.h>

#include "target.h"
#include "work.h"

static volatile int interrupted;
static char other_stack[65536];

PROBED int hammered(int a) {
  __asm__ volatile("" : "+r"(a));
  return a * 1000003 + 1;
}

static void sleeps(int signal) {
  (void)signal;
  struct timespec left = {1, 500000000};
  while (nanosleep(&left, &left)) {
  }
}

static void raises(int signal) {
  (void)signal;
  raise(SIGUSR2);
  interrupted = 1;
}

int main(void) {
  stack_t stack = {.ss_sp = other_stack, .ss_size = sizeof other_stack};
  sigaltstack(&stack, 0);
  struct sigaction action = {.sa_handler = raises};
  sigaction(SIGALRM, &action, 0);
  action.sa_handler = sleeps;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR2, &action, 0);
  say("ready");
  while (next_round()) {
    ualarm(400000, 0);
    for (interrupted = 0; !interrupted;) require(hammered(1) == 1000004, "the product");
    say("done");
  }
  return 0;
}
