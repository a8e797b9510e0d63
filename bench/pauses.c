// SPDX-License-Identifier: MIT
// usage: bench_pauses THREADS    that many threads read the clock all the time and call work() now and then.
// Each line on stdin is answered by the largest gap in ns between two readings since the line before, less
// what the thread waited for a CPU in it: what a thread saw of a pause.
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "work.h"

enum { kMaxThreads = 64, kReadings = 64, kShortest = 20000 };
static atomic_long largest[kMaxThreads];
static volatile int result;

static long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000L + t.tv_nsec;
}

// Time this thread has been ready to run and had no CPU, in ns: of the scheduler, not of blip.
static long waited(int schedstat) {
  char text[96] = "";
  long ran = 0, ready = 0;
  if (pread(schedstat, text, sizeof text - 1, 0) <= 0 || sscanf(text, "%ld %ld", &ran, &ready) != 2) return 0;
  return ready;
}

struct Watcher {
  int schedstat;
  long waited, last;
  atomic_long* largest;
};

static struct Watcher begin(atomic_long* largest_gap) {
  int schedstat = open("/proc/thread-self/schedstat", O_RDONLY);
  return (struct Watcher){schedstat, waited(schedstat), now(), largest_gap};
}

static void watch(struct Watcher* w) {
  for (int i = 0; i < kReadings; i++) {
    long then = now(), gap = then - w->last;
    if (gap > kShortest) {
      long after = waited(w->schedstat);
      gap -= after - w->waited;
      w->waited = after;
      if (gap > atomic_load(w->largest)) atomic_store(w->largest, gap);
      then = now();
    }
    w->last = then;
  }
  result = work((int)w->last, "watch");
}

static void* thread(void* mine) {
  struct Watcher watcher = begin(mine);
  for (;;) watch(&watcher);
  return NULL;
}

static long answer(int count) {
  long most = 0;
  for (int i = 0; i < count; i++) {
    long gap = atomic_exchange(&largest[i], 0);
    if (gap > most) most = gap;
  }
  return most;
}

// No thread sleeps: one that does cannot see a pause.
int main(int argc, char** argv) {
  int count = argc > 1 ? atoi(argv[1]) : 1;
  if (count < 1 || count > kMaxThreads) return 2;
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  for (int i = 1; i < count; i++) {
    pthread_t id;
    if (pthread_create(&id, NULL, thread, &largest[i]) != 0) return 1;
  }
  printf("ready %d\n", getpid());
  fflush(stdout);
  struct Watcher watcher = begin(&largest[0]);
  struct pollfd input = {.fd = 0, .events = POLLIN};
  for (char c;;) {
    watch(&watcher);
    if (poll(&input, 1, 0) <= 0) continue;
    if (read(0, &c, 1) <= 0) return 0;
    printf("%ld\n", answer(count));
    fflush(stdout);
  }
}
