// SPDX-License-Identifier: MIT
// A service that keeps the machine busy although it does next to nothing: it answers a few dozen requests a second. README.md
// finds out what it starts.
//
//   gcc -O2 -g storm.c -o storm && ./storm [SECONDS]      (ends by itself, default 60)
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STEP __attribute__((noinline)) // stays a function of its own

enum { kPauseNs = 10 * 1000 * 1000 };

static volatile sig_atomic_t stopping;
static char journal[1 << 12];
static size_t journal_size;

#ifndef FIXED
STEP void format_time(char* text, size_t size) {
  FILE* date = popen("date +%H:%M:%S", "r");
  if (!date || !fgets(text, (int)size, date)) text[0] = 0;
  if (date) pclose(date);
  text[strcspn(text, "\n")] = 0;
}
#else
STEP void format_time(char* text, size_t size) {
  const time_t now = time(NULL);
  struct tm parts;
  strftime(text, size, "%H:%M:%S", localtime_r(&now, &parts));
}
#endif

STEP void write_journal(const char* message, int number) {
  char line[128], now[32];
  format_time(now, sizeof(now));
  const int size = snprintf(line, sizeof(line), "%s %s %d\n", now, message, number);
  if (journal_size + (size_t)size > sizeof(journal)) journal_size = 0;
  memcpy(journal + journal_size, line, (size_t)size);
  journal_size += (size_t)size;
}

STEP int compute_answer(int number) {
  int sum = 0;
  for (int i = 0; i < 1000; ++i) sum += i * number % 7;
  return sum;
}

STEP int answer_request(int number) {
  const int answer = compute_answer(number);
  write_journal("answered", number);
  return answer;
}

static void on_signal(int number) {
  (void)number;
  stopping = 1;
}

int main(int argc, char** argv) {
  const time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 60);
  long sum = 0;
  int requests = 0;
  signal(SIGTERM, on_signal);
  for (; !stopping && time(NULL) < end; ++requests) {
    const struct timespec pause = {0, kPauseNs};
    sum += answer_request(requests);
    nanosleep(&pause, NULL);
  }
  printf("storm: %d requests answered, sum %ld\n", requests, sum);
  return 0;
}
