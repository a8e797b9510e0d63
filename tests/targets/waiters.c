// SPDX-License-Identifier: MIT
// waiters T N: T threads that wait in epoll_wait, a call that a stop could end with EINTR, in a program with
// a signal handler. Per round each is woken, calls work() N times and checks its sum.
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "work.h"

enum { kMax = 2048 };
static unsigned long calls_per_thread, expected;
static int wake[kMax];
static pthread_barrier_t begin, end;

static unsigned long one_round(void) {
  unsigned long sum = 0;
  for (unsigned long i = 0; i < calls_per_thread; i++) sum = sum * 3 + work(i, "waiter");
  return sum;
}

static void handler(int signal) { (void)signal; }

static __attribute__((noreturn)) void* thread(void* index) {
  int fd = wake[(long)index];
  int poll = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN};
  require(epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event) == 0, "epoll_ctl");
  pthread_barrier_wait(&begin);
  for (;;) {
    uint64_t count;
    require(epoll_wait(poll, &event, 1, -1) == 1, "epoll_wait");
    require(read(fd, &count, sizeof count) == sizeof count && count == 1, "read of an eventfd");
    require(one_round() == expected, "a waiter's sum");
    pthread_barrier_wait(&end);
  }
}

int main(int argc, char** argv) {
  require(argc == 3, "usage: waiters T N");
  long count = atol(argv[1]);
  require(count <= kMax, "too many threads");
  calls_per_thread = strtoul(argv[2], 0, 0);
  expected = one_round();
  signal(SIGUSR1, handler);
  pthread_barrier_init(&begin, 0, (unsigned)count + 1);
  pthread_barrier_init(&end, 0, (unsigned)count + 1);
  for (long i = 0; i < count; i++) {
    pthread_t t;
    require((wake[i] = eventfd(0, 0)) >= 0, "eventfd");
    require(!pthread_create(&t, 0, thread, (void*)i), "pthread_create");
  }
  pthread_barrier_wait(&begin);
  usleep(20000);  // most are in epoll_wait by now; the others are as good
  say("ready");
  while (next_round()) {
    const uint64_t one = 1;
    for (long i = 0; i < count; i++) require(write(wake[i], &one, sizeof one) == sizeof one, "write");
    pthread_barrier_wait(&end);
    say("calls=%lu", count * calls_per_thread);
    say("done");
  }
  return 0;
}
