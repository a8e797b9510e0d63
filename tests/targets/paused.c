// SPDX-License-Identifier: MIT
// paused THREADS: many functions, and threads that read the clock all the time. A round calls every function
// once and tells the largest gap in us between two readings of one thread since the round before, less what
// the thread waited for a CPU in it: what the program saw of a pause.
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "target.h"

typedef unsigned long Function(unsigned long);
extern Function* const many_functions[];
extern const unsigned long many_count;

enum { kMaxThreads = 256, kReadings = 64, kShortest = 20000 };
static atomic_long largest[kMaxThreads];

static long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000L + t.tv_nsec;
}

// For how long this thread has been ready to run and had no CPU, in ns: the scheduler's doing, not blip's.
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
  const int schedstat = open("/proc/thread-self/schedstat", O_RDONLY);
  return (struct Watcher){schedstat, waited(schedstat), now(), largest_gap};
}

static void watch(struct Watcher* w) {
  for (int i = 0; i < kReadings; i++) {
    long then = now(), gap = then - w->last;
    if (gap > kShortest) {
      const long after = waited(w->schedstat);
      gap -= after - w->waited;
      w->waited = after;
      if (gap > atomic_load(w->largest)) atomic_store(w->largest, gap);
      then = now();
    }
    w->last = then;
  }
}

static void* thread(void* mine) {
  struct Watcher watcher = begin(mine);
  for (;;) watch(&watcher);
  return NULL;
}

static long seen(int count) {
  long most = 0;
  for (int i = 0; i < count; i++) {
    const long gap = atomic_exchange(&largest[i], 0);
    if (gap > most) most = gap;
  }
  return most / 1000;
}

static void answer(int count) {
  unsigned long sum = 1;
  for (unsigned long i = 0; i < many_count; i++) sum = many_functions[i](sum + i);
  say("calls=%lu checksum=%lx", many_count, sum);
  say("info paused=%ld", seen(count));
  say("done");
}

// No thread sleeps: one that does cannot see a pause.
int main(int argc, char** argv) {
  const int count = argc > 1 ? atoi(argv[1]) : 1;
  if (count < 1 || count > kMaxThreads) return 2;
  for (int i = 1; i < count; i++) {
    pthread_t id;
    if (pthread_create(&id, NULL, thread, &largest[i]) != 0) return 1;
  }
  say("ready");
  struct Watcher watcher = begin(&largest[0]);
  struct pollfd input = {.fd = 0, .events = POLLIN};
  for (;;) {
    watch(&watcher);
    if (poll(&input, 1, 0) <= 0) continue;
    if (!next_round()) return 0;
    answer(count);
    watcher = begin(&largest[0]);
  }
}
