// SPDX-License-Identifier: MIT
// thread_storm: threads are created and end all the time from the start; each calls work() and checks the
// sum. A round lasts until some of them have come and gone.
#include <pthread.h>

#include "work.h"

static volatile int stop;
static unsigned long ended;

static void* short_life(void* seed) {
  unsigned long expected = 0, sum = 0;
  for (unsigned long i = 0; i < 20; i++) expected += (sum = work((unsigned long)seed + i, "short"));
  for (unsigned long i = 0; i < 20; i++) expected -= work((unsigned long)seed + i, "short");
  require(expected == 0, "a short thread's sum");
  __atomic_fetch_add(&ended, 1, __ATOMIC_RELAXED);
  return (void*)sum;
}

static void* maker(void* unused) {
  for (unsigned long i = 0; !stop; i++) {
    pthread_t threads[4];
    for (int k = 0; k < 4; k++)
      require(!pthread_create(&threads[k], 0, short_life, (void*)(i + 1)), "pthread_create");
    for (int k = 0; k < 4; k++) pthread_join(threads[k], 0);
  }
  return unused;
}

static void wait_for_more(unsigned long threads) {
  const unsigned long enough = __atomic_load_n(&ended, __ATOMIC_RELAXED) + threads;
  while (__atomic_load_n(&ended, __ATOMIC_RELAXED) < enough) usleep(100);
}

int main(void) {
  pthread_t makers[2];
  for (int i = 0; i < 2; i++) require(!pthread_create(&makers[i], 0, maker, 0), "pthread_create");
  wait_for_more(100);
  say("ready");
  while (next_round()) {
    wait_for_more(20);  // more than live at a time: some of them began after the round did
    say("done");
  }
  stop = 1;
  for (int i = 0; i < 2; i++) pthread_join(makers[i], 0);
  return 0;
}
