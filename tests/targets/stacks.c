// SPDX-License-Identifier: MIT
// stacks [N]: calls leaf() in N rounds from stacks of all kinds: plain calls and inlined ones, a signal handler,
// a deep recursion, a callback of libc's, frames larger than a page, and another thread.
#include <pthread.h>

#include "target.h"

static volatile unsigned long sink;
static unsigned long calls;

PROBED void leaf(unsigned long n) {
  sink += n;
  calls++;
}

static inline __attribute__((always_inline)) void inlined(unsigned long n) { leaf(n * 3); }

PROBED void middle(unsigned long n) {
  inlined(n + 1);
  sink++;
}

PROBED void outer(unsigned long n) {
  middle(n + 2);
  sink++;
}

static void on_signal(int signal) {
  leaf((unsigned long)signal);
  sink++;
}

PROBED void by_signal(void) {
  raise(SIGUSR2);
  sink++;
}

PROBED void by_recursion(unsigned long depth) {
  if (depth == 0)
    leaf(depth);
  else
    by_recursion(depth - 1);
  sink++;
}

static int compare(const void* a, const void* b) {
  leaf(2);
  sink++;
  return *(const int*)a - *(const int*)b;
}

PROBED void by_library(void) {
  int pair[2] = {2, 1};
  qsort(pair, 2, sizeof pair[0], compare);
  sink += (unsigned long)pair[0];
}

PROBED void by_wide_frames(unsigned long n) {
  volatile char room[5000];
  room[n] = 1;
  outer(n);
  sink += (unsigned long)room[n];
}

static void* in_thread(void* argument) {
  by_wide_frames((unsigned long)(uintptr_t)argument);
  sink++;
  return argument;
}

static void* do_nothing(void* argument) { return argument; }

static void run_thread(void* (*begin)(void*)) {
  pthread_t thread;
  require(pthread_create(&thread, 0, begin, 0) == 0, "pthread_create");
  pthread_join(thread, 0);
}

int main(int argc, char** argv) {
  const unsigned long n = argc > 1 ? strtoul(argv[1], 0, 0) : 1;
  struct sigaction action = {.sa_handler = on_signal};
  sigaction(SIGUSR2, &action, 0);
  run_thread(do_nothing);  // what that needs, libc keeps
  say("ready");
  while (next_round()) {
    calls = 0;
    for (unsigned long i = 0; i < n; i++) {
      outer(i);
      by_signal();
      by_recursion(200);
      by_library();
      by_wide_frames(i);
      run_thread(in_thread);
    }
    say("calls=%lu", calls);
    say("done");
  }
  return 0;
}
