// SPDX-License-Identifier: MIT
// usage: bench_forks MIB    holds so much memory, touched; each line of input: one fork, whose child ends at once;
// answers with the ns that fork() took. Calls work() in between, so that a tracer has something to see.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "work.h"

static long long now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(int argc, char** argv) {
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  const size_t size = (size_t)(argc > 1 ? atoi(argv[1]) : 1024) << 20;
  char* memory = malloc(size);
  if (!memory) return 1;
  memset(memory, 1, size);
  printf("ready %d\n", getpid());
  fflush(stdout);
  int c, sum = 0;
  while ((c = getchar()) != EOF) {
    if (c != '\n') continue;
    sum += work(c, "fork");
    const long long begin = now_ns();
    const pid_t child = fork();
    if (child == 0) _exit(0);
    const long long took = now_ns() - begin;
    if (child < 0 || waitpid(child, NULL, 0) != child) return 1;
    printf("%lld\n", took);
    fflush(stdout);
  }
  return memory[size / 2] + sum == 0;
}
