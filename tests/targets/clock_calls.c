// SPDX-License-Identifier: MIT
// clock_calls: two threads read CLOCK_MONOTONIC and call work() all the time; time must not go backwards.
#include <pthread.h>
#include <time.h>

#include "work.h"

static volatile int stop;
static unsigned long passes[2];

static void* thread(void* index) {
  struct timespec last = {0, 0}, now;
  for (unsigned long i = 0; !stop; i++) {
    require(clock_gettime(CLOCK_MONOTONIC, &now) == 0, "clock_gettime");
    require(now.tv_sec > last.tv_sec || (now.tv_sec == last.tv_sec && now.tv_nsec >= last.tv_nsec), "time");
    last = now;
    require(work(i, "clock") == work(i, "clock"), "a sum");
    __atomic_store_n(&passes[(long)index], i, __ATOMIC_RELAXED);
  }
  return 0;
}

int main(void) {
  pthread_t threads[2];
  for (long i = 0; i < 2; i++) require(!pthread_create(&threads[i], 0, thread, (void*)i), "pthread_create");
  for (long i = 0; i < 2; i++)
    while (__atomic_load_n(&passes[i], __ATOMIC_RELAXED) < 100) usleep(100);
  say("ready");
  while (next_round()) say("done");
  stop = 1;
  for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
  return 0;
}
