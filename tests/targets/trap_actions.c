// SPDX-License-Identifier: MIT
// trap_actions [blocks|masks]: each round calls work() and asks for another SIGTRAP handler, traps by itself,
// and puts the old action back; the actions it is told of are its own. With `blocks` a second thread has SIGTRAP
// blocked; with `masks` the handler of SIGUSR1 has.
#include <pthread.h>

#include "work.h"

static volatile int first, second;

static void on_first(int signal) {
  (void)signal;
  first++;
}

static void on_second(int signal, siginfo_t* info, void* context) {
  (void)context;
  require(signal == SIGTRAP && info->si_signo == SIGTRAP, "the siginfo");
  work(7, "in the handler");
  second++;
}

static volatile int waiting;

static void* waits(void* unused) {
  waiting = 1;
  for (;;) pause();
  return unused;
}

static void block(int how) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTRAP);
  pthread_sigmask(how, &set, 0);
}

static void one_round(void) {
  struct sigaction old, later = {.sa_flags = SA_SIGINFO};
  later.sa_sigaction = on_second;
  for (unsigned long i = 0; i < 50; i++) work(i, "first");
  __asm__ volatile("int3");
  require(first == 1 && second == 0, "the first handler");
  require(!sigaction(SIGTRAP, &later, &old) && old.sa_handler == on_first, "the old action");
  for (unsigned long i = 0; i < 50; i++) work(i, "second");
  __asm__ volatile("int3");
  raise(SIGTRAP);
  require(first == 1 && second == 2, "the second handler");
  struct sigaction now;
  require(!sigaction(SIGTRAP, 0, &now) && now.sa_sigaction == on_second, "the action");
  require(!sigaction(SIGTRAP, &old, &now) && now.sa_sigaction == on_second, "the action, put back");
  first = second = 0;
}

int main(int argc, char** argv) {
  struct sigaction action = {.sa_handler = on_first};
  sigaction(SIGTRAP, &action, 0);
  if (argc > 1 && !strcmp(argv[1], "masks")) {
    action.sa_handler = on_first;
    sigfillset(&action.sa_mask);
    sigaction(SIGUSR1, &action, 0);
  }
  if (argc > 1 && !strcmp(argv[1], "blocks")) {
    pthread_t other;
    block(SIG_BLOCK);
    require(!pthread_create(&other, 0, waits, 0), "pthread_create");
    block(SIG_UNBLOCK);
    while (!waiting) usleep(100);  // libc creates threads with all signals blocked
  }
  say("ready");
  while (next_round()) {
    one_round();
    say("calls=102");
    say("done");
  }
  return 0;
}
