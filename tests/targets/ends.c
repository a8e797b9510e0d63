// SPDX-License-Identifier: MIT
// ends HOW N: in the round, after N calls of work(), the process ends: exit, _exit, abort, segv, overflow (of
// the stack), kill, or another thread ends it while this one goes on calling.
#include <pthread.h>

#include "work.h"

static volatile unsigned long calls;

static void* end_from_here(void* limit) {
  while (calls < (unsigned long)limit) usleep(100);
  _exit(3);
}

PROBED unsigned long deeper(unsigned long level) {
  volatile char frame[1024];
  if (level == ~0ul) return 0;
  frame[level % sizeof frame] = 1;
  return deeper(level + 1) + (unsigned long)frame[0];
}

static void end(const char* how) {
  if (!strcmp(how, "exit")) exit(3);
  if (!strcmp(how, "_exit")) _exit(3);
  if (!strcmp(how, "abort")) abort();
  if (!strcmp(how, "segv")) *(volatile int*)0 = 1;
  if (!strcmp(how, "overflow")) deeper(0);
  if (!strcmp(how, "kill")) kill(getpid(), SIGKILL);
}

int main(int argc, char** argv) {
  require(argc == 3, "usage: ends HOW N");
  unsigned long n = strtoul(argv[2], 0, 0);
  pthread_t thread;
  if (!strcmp(argv[1], "thread"))
    require(!pthread_create(&thread, 0, end_from_here, (void*)n), "pthread_create");
  say("ready");
  if (!next_round()) return 0;
  for (; strcmp(argv[1], "thread") ? calls < n : 1; calls++) {
    work(calls, "end");
    if (calls == n - 1) say("calls=%lu", n);
  }
  end(argv[1]);
  return 4;
}
