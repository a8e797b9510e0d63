// SPDX-License-Identifier: MIT
// usage: bench_sleepers THREADS    that many threads, each awake for a call of work() every 50 ms, until the
// input ends.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "work.h"

static volatile int result;

static void* doze(void* unused) {
  (void)unused;
  for (int i = 0;; i++) {
    result = work(i, "sleeper");
    usleep(50000);
  }
  return NULL;
}

int main(int argc, char** argv) {
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 65536);
  for (int i = 1; i < (argc > 1 ? atoi(argv[1]) : 1); i++) {
    pthread_t thread;
    if (pthread_create(&thread, &attributes, doze, NULL) != 0) return 1;
  }
  printf("ready %d\n", getpid());
  fflush(stdout);
  char c;
  while (read(0, &c, 1) > 0) {
  }
  return 0;
}
