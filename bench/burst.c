// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "burst.h"

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { kMaxThreads = 64, kMaxBursts = 10000 };
static const int64_t kSecond = 1000000000;
static const int64_t kTick = 1000000;  // pace of `rate`

struct run {
  burst_loop* loop;
  long calls;
  int bursts;
  int pause_us;
  int threads;
  pthread_barrier_t barrier;
};

struct worker {
  struct run* run;
  int index;
  pthread_t thread;
  int64_t cpu_ns[kMaxBursts];
  int64_t wall_ns[kMaxBursts];
};

long burst_spin;

static struct worker workers[kMaxThreads];

static int64_t now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return t.tv_sec * kSecond + t.tv_nsec;
}

static void sleep_until(int64_t when) {
  struct timespec t = {when / kSecond, when % kSecond};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) != 0) {
  }
}

// The last CPU is the quietest; further threads take the ones before it.
static void pin(int index) {
  cpu_set_t allowed, one;
  if (sched_getaffinity(getpid(), sizeof(allowed), &allowed) != 0) return;
  int skip = index % CPU_COUNT(&allowed);
  for (int cpu = CPU_SETSIZE - 1; cpu >= 0; cpu--) {
    if (!CPU_ISSET(cpu, &allowed) || skip-- > 0) continue;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof(one), &one);
    return;
  }
}

static void* work_bursts(void* argument) {
  struct worker* self = argument;
  struct run* run = self->run;
  pin(self->index);
  for (int i = 0; i < run->bursts; i++) {
    pthread_barrier_wait(&run->barrier);
    int64_t wall = now(CLOCK_MONOTONIC), cpu = now(CLOCK_THREAD_CPUTIME_ID);
    run->loop(run->calls);
    self->cpu_ns[i] = now(CLOCK_THREAD_CPUTIME_ID) - cpu;
    self->wall_ns[i] = now(CLOCK_MONOTONIC) - wall;
    usleep((useconds_t)run->pause_us);
  }
  return NULL;
}

static void run_bursts(struct run* run) {
  pthread_barrier_init(&run->barrier, NULL, (unsigned)run->threads);
  for (int i = 0; i < run->threads; i++) {
    workers[i].run = run;
    workers[i].index = i;
    pthread_create(&workers[i].thread, NULL, work_bursts, &workers[i]);
  }
  for (int i = 0; i < run->threads; i++) pthread_join(workers[i].thread, NULL);
  pthread_barrier_destroy(&run->barrier);
  printf("ns");
  for (int i = 0; i < run->bursts; i++) {
    int64_t cpu = 0, wall = 0;
    for (int k = 0; k < run->threads; k++) {
      cpu += workers[k].cpu_ns[i];
      wall += workers[k].wall_ns[i];
    }
    double calls = (double)run->threads * (double)run->calls;
    printf(" %.4f/%.4f", (double)cpu / calls, (double)wall / calls);
  }
  printf("\n");
}

static void run_rate(burst_loop* loop, long per_second, long ms) {
  int64_t start = now(CLOCK_MONOTONIC);
  long done = 0;
  for (long tick = 1; tick <= ms; tick++) {
    long due = per_second * tick / (kSecond / kTick);
    loop(due - done);
    done = due;
    sleep_until(start + tick * kTick);
  }
  printf("rate %ld %lld\n", done, (long long)(now(CLOCK_MONOTONIC) - start));
}

static burst_loop* find(const struct burst_variant* variants, const char* name) {
  for (; variants->name; variants++) {
    if (strcmp(variants->name, name) == 0) return variants->loop;
  }
  return NULL;
}

static void obey(const struct burst_variant* variants, const char* line) {
  char name[64];
  struct run run = {0};
  long per_second, ms;
  if (sscanf(line, "run %63s %d %ld %d %d", name, &run.bursts, &run.calls, &run.pause_us, &run.threads) ==
          5 &&
      run.bursts <= kMaxBursts && run.threads >= 1 && run.threads <= kMaxThreads && run.calls > 0 &&
      (run.loop = find(variants, name))) {
    run_bursts(&run);
  } else if (sscanf(line, "rate %63s %ld %ld", name, &per_second, &ms) == 3 &&
             (run.loop = find(variants, name))) {
    run_rate(run.loop, per_second, ms);
  } else if (sscanf(line, "spin %ld", &burst_spin) == 1) {
    printf("spin %ld\n", burst_spin);
  } else {
    printf("error: cannot obey: %s", line);
  }
  fflush(stdout);
}

int burst_main(const struct burst_variant* variants) {
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);  // an ordinary user may trace it under ptrace_scope 1
  char line[256];
  printf("ready %d\n", getpid());
  fflush(stdout);
  while (fgets(line, sizeof(line), stdin)) obey(variants, line);
  return 0;
}
