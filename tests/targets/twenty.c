// SPDX-License-Identifier: MIT
// twenty: makes twenty threads that call work(), waits for them and ends with 3.
// twenty rounds: does so in each round, and ends with 0.
#include <pthread.h>

#include "work.h"

static void* thread(void* number) { return (void*)work((unsigned long)number, "thread"); }

static void twenty_threads(void) {
  pthread_t threads[20];
  for (unsigned long i = 0; i < 20; i++) require(!pthread_create(&threads[i], 0, thread, (void*)i), "a thread");
  for (int i = 0; i < 20; i++) require(!pthread_join(threads[i], 0), "its end");
}

int main(int argc, char** argv) {
  (void)argv;
  if (argc == 1) {
    twenty_threads();
    return 3;
  }
  say("ready");
  while (next_round()) {
    twenty_threads();
    say("done");
  }
  return 0;
}
