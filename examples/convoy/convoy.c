// SPDX-License-Identifier: MIT
// A lock convoy. Four workers convert pictures and write a line each to a log. The work needs no lock, and yet the workers
// do a tenth of what they could. README.md finds the lock that they wait for, and who holds it.
//
//   gcc -O2 -g -pthread convoy.c -o convoy && ./convoy [SECONDS]      (ends by itself, default 60)
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define STEP __attribute__((noinline)) // a step of a job stays a function of its own

enum { kWorkers = 4, kPixels = 20000, kLines = 16, kLine = 64 };

struct log {
  pthread_mutex_t lock;
  int used;
  char lines[kLines][kLine];
};

static struct log job_log = {.lock = PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned next_job;
static atomic_bool stopping;
static atomic_long done;

// A disk that takes two milliseconds to make data durable, as many do.
STEP void sync_to_disk(void) {
  const struct timespec disk = {0, 2 * 1000 * 1000};
  nanosleep(&disk, NULL);
}

STEP void write_lines(char lines[kLines][kLine]) {
  sync_to_disk();
  memset(lines, 0, kLines * kLine);
}

#ifndef FIXED
STEP void log_job(struct log* log, unsigned job, unsigned sum) {
  pthread_mutex_lock(&log->lock);
  snprintf(log->lines[log->used++], kLine, "job %u: checksum %u", job, sum);
  if (log->used == kLines) {
    write_lines(log->lines);
    log->used = 0;
  }
  pthread_mutex_unlock(&log->lock);
}
#else
STEP void log_job(struct log* log, unsigned job, unsigned sum) {
  char full[kLines][kLine];
  pthread_mutex_lock(&log->lock);
  snprintf(log->lines[log->used++], kLine, "job %u: checksum %u", job, sum);
  const int is_full = log->used == kLines;
  if (is_full) {
    memcpy(full, log->lines, sizeof(full));
    log->used = 0;
  }
  pthread_mutex_unlock(&log->lock);
  if (is_full) write_lines(full);
}
#endif

STEP unsigned take_job(void) {
  pthread_mutex_lock(&queue_lock);
  const unsigned job = next_job++;
  pthread_mutex_unlock(&queue_lock);
  return job;
}

STEP unsigned convert_picture(unsigned job) {
  unsigned sum = job;
  for (int i = 0; i < kPixels; ++i) sum = sum * 1664525 + 1013904223 + (sum >> 16);
  return sum;
}

STEP void run_job(void) {
  const unsigned job = take_job();
  const unsigned sum = convert_picture(job);
  log_job(&job_log, job, sum);
  done++;
}

static void* worker(void* unused) {
  while (!stopping) run_job();
  return unused;
}

static void on_signal(int number) {
  (void)number;
  stopping = 1;
}

int main(int argc, char** argv) {
  const struct timespec tick = {0, 50 * 1000 * 1000};
  const int ticks = 20 * (argc > 1 ? atoi(argv[1]) : 60);
  pthread_t threads[kWorkers];
  signal(SIGTERM, on_signal);
  signal(SIGINT, on_signal);
  for (int i = 0; i < kWorkers; ++i)
    if (pthread_create(&threads[i], NULL, worker, NULL)) return fputs("cannot start threads\n", stderr), 1;
  for (int i = 0; i < ticks && !stopping; ++i) nanosleep(&tick, NULL);
  stopping = 1;
  for (int i = 0; i < kWorkers; ++i) pthread_join(threads[i], NULL);
  printf("convoy: %ld jobs done\n", done);
  return 0;
}
