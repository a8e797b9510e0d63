// SPDX-License-Identifier: MIT
// filtered_sleep: threads that sleep in each way whose rest the kernel keeps, behind a filter that kills who
// calls restart_syscall; the main thread serves calls of work(). At the end each has slept its time, and got
// what it would have got.
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <time.h>

#include "allow.h"
#include "target.h"
#include "work.h"

enum { kMilliseconds = 700, kWays = 4 };
static volatile int ended;
static int begun;
static int failures[kWays];

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static int sleep_once(int way) {
  static int word = 1;
  const struct timespec time = {0, kMilliseconds * 1000000L};
  switch (way) {
    case 0:
      return syscall(SYS_nanosleep, &time, NULL) != 0;
    case 1:
      return clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL) != 0;
    case 2:
      return poll(NULL, 0, kMilliseconds) != 0;
    default:
      return syscall(SYS_futex, &word, FUTEX_WAIT, 1, &time, NULL, 0) != -1 || errno != ETIMEDOUT;
  }
}

static void* sleeps(void* argument) {
  const int way = (int)(intptr_t)argument;
  __atomic_add_fetch(&begun, 1, __ATOMIC_SEQ_CST);
  while (!ended) {
    const int64_t begin = now();
    if (sleep_once(way) || now() - begin < kMilliseconds * 1000000LL) ++failures[way];
  }
  return NULL;
}

static void forbid_restarts(void) {
  struct sock_filter filter[] = {
      LOAD_CALL,
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_restart_syscall, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
  require(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs");
  require(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0), "seccomp");
}

int main(void) {
  pthread_t threads[kWays];
  forbid_restarts();
  for (int i = 0; i < kWays; ++i)
    require(!pthread_create(&threads[i], NULL, sleeps, (void*)(intptr_t)i), "thread");
  while (__atomic_load_n(&begun, __ATOMIC_SEQ_CST) < kWays) usleep(1000);
  const int status = serve_calls("sleepers");
  ended = 1;
  for (int i = 0; i < kWays; ++i) pthread_join(threads[i], NULL);
  for (int i = 0; i < kWays; ++i) require(!failures[i], "a sleep was cut short or failed");
  return status;
}
