// SPDX-License-Identifier: MIT
// twenty: makes twenty threads that call work(), waits for them and ends with 3.
#include <pthread.h>

#include "work.h"

static void* thread(void* number) { return (void*)work((unsigned long)number, "thread"); }

int main(void) {
  pthread_t threads[20];
  for (unsigned long i = 0; i < 20; i++) require(!pthread_create(&threads[i], 0, thread, (void*)i), "a thread");
  for (int i = 0; i < 20; i++) require(!pthread_join(threads[i], 0), "its end");
  return 3;
}
