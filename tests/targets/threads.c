// SPDX-License-Identifier: MIT
// threads T N: per round, each of T threads calls work() N times and checks its sum. Threads live as long as
// the process.
#include <pthread.h>
#include <sys/syscall.h>

#include "work.h"

enum { kMax = 2048 };
static unsigned long calls_per_thread, expected;
static pthread_barrier_t begin, end;
static int tids[kMax];

static unsigned long one_round(void) {
  unsigned long sum = 0;
  for (unsigned long i = 0; i < calls_per_thread; i++) sum = sum * 3 + work(i, "thread");
  return sum;
}

static __attribute__((noreturn)) void* thread(void* index) {
  tids[(long)index] = (int)syscall(SYS_gettid);
  for (;;) {
    pthread_barrier_wait(&begin);
    require(one_round() == expected, "a thread's sum");
    pthread_barrier_wait(&end);
  }
}

int main(int argc, char** argv) {
  require(argc == 3, "usage: threads T N");
  long count = atol(argv[1]);
  calls_per_thread = strtoul(argv[2], 0, 0);
  expected = one_round();
  pthread_barrier_init(&begin, 0, (unsigned)count + 1);
  pthread_barrier_init(&end, 0, (unsigned)count + 1);
  for (long i = 0; i < count; i++) {
    pthread_t t;
    require(!pthread_create(&t, 0, thread, (void*)i), "pthread_create");
  }
  for (long i = 0; i < count; i++)
    while (!__atomic_load_n(&tids[i], __ATOMIC_RELAXED)) usleep(100);
  for (long i = 0; i < count && i < 16; i++) say("info tid%ld=%d", i, tids[i]);
  say("ready");
  for (unsigned long total = 0; next_round();) {
    pthread_barrier_wait(&begin);
    pthread_barrier_wait(&end);
    total += (unsigned long)count * calls_per_thread;
    say("calls=%lu total=%lu", count * calls_per_thread, total);
    say("done");
  }
  return 0;
}
