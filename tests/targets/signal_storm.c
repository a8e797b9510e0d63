// SPDX-License-Identifier: MIT
// signal_storm N [DEPTH [alternate|alone]]: a round calls work() until N signals (a timer's, and SIGUSR1 from
// a second thread) were handled; the handlers call work() too and nest up to DEPTH (4) deep, on an alternate
// stack if asked for. alone: without the second thread.
#include <pthread.h>
#include <sys/time.h>

#include "work.h"

static volatile int storming, quit, started, most_deep = 4;
static char alternate[1 << 18];
static volatile unsigned long handled;
static __thread volatile int depth;
static pthread_t main_thread;

static void on_signal(int signal) {
  if (depth >= most_deep) return;
  depth++;
  unsigned long here = work((unsigned long)signal, "handler");
  require(here == work((unsigned long)signal, "handler"), "a sum in a handler");
  __atomic_fetch_add(&handled, 2, __ATOMIC_RELAXED);
  depth--;
}

static void* sender(void* unused) {
  started = 1;
  while (!quit) {
    if (storming) pthread_kill(main_thread, SIGUSR1);
    usleep(storming ? 50 : 1000);
  }
  return unused;
}

enum { kCallsPerPass = 100 };
static unsigned long one_pass(void) {
  unsigned long sum = 0;
  for (unsigned long i = 0; i < kCallsPerPass; i++) {
    sum = sum * 3 + work(i, "storm");
    for (volatile int k = 0; k < 500; k++) continue;
  }
  return sum;
}

int main(int argc, char** argv) {
  unsigned long n = argc > 1 ? strtoul(argv[1], 0, 0) : 200, passes;
  unsigned long expected = one_pass();
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART | SA_NODEFER};
  if (argc > 2) most_deep = atoi(argv[2]);
  if (argc > 3) {
    stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
    require(!sigaltstack(&stack, 0), "sigaltstack");
    action.sa_flags = SA_NODEFER | SA_ONSTACK;  // and calls are not restarted
  }
  sigset_t storm, old;
  sigemptyset(&storm);
  sigaddset(&storm, SIGUSR1);
  sigaddset(&storm, SIGALRM);
  sigprocmask(SIG_BLOCK, &storm, &old);
  sigaction(SIGUSR1, &action, 0);
  sigaction(SIGALRM, &action, 0);
  main_thread = pthread_self();
  pthread_t other;
  const int alone = argc > 3 && !strcmp(argv[3], "alone");
  if (!alone) pthread_create(&other, 0, sender, 0);
  while (!alone && !started) usleep(100);
  say("ready");
  while (next_round()) {
    struct itimerval every = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
    handled = 0;
    setitimer(ITIMER_REAL, &every, 0);
    storming = 1;
    sigprocmask(SIG_UNBLOCK, &storm, 0);
    for (passes = 0; handled < 2 * n; passes++) require(one_pass() == expected, "the sum under signals");
    storming = 0;
    setitimer(ITIMER_REAL, &never, 0);
    usleep(5000);
    sigprocmask(SIG_BLOCK, &storm, 0);
    say("info calls=%lu handled=%lu", passes * kCallsPerPass + handled, handled);
    say("done");
  }
  quit = 1;
  if (!alone) pthread_join(other, 0);
  return 0;
}
