// SPDX-License-Identifier: MIT
// leaderless N: the first thread has ended before the process is ready; another one does the work, N calls a round, the
// last tenth of them in a thread that comes later.
#include <pthread.h>

#include "work.h"

static unsigned long calls_per_round;
static pthread_t leader;

static void* call_some(void* from) {
  for (unsigned long i = (unsigned long)from; i < calls_per_round; i++) work(i, "late");
  return 0;
}

static void* lead(void* unused) {
  (void)unused;
  require(!pthread_join(leader, 0), "the first thread's end");
  say("ready");
  while (next_round()) {
    const unsigned long late = calls_per_round - calls_per_round / 10;
    for (unsigned long i = 0; i < late; i++) work(i, "early");
    pthread_t thread;
    require(!pthread_create(&thread, 0, call_some, (void*)late) && !pthread_join(thread, 0), "a thread");
    say("calls=%lu", calls_per_round);
    say("done");
  }
  exit(0);
}

int main(int argc, char** argv) {
  calls_per_round = argc > 1 ? strtoul(argv[1], 0, 0) : 1000;
  leader = pthread_self();
  pthread_t thread;
  require(!pthread_create(&thread, 0, lead, 0), "a thread");
  pthread_exit(0);
}
