// SPDX-License-Identifier: MIT
// leaves WAY N: per round, N times a timer's handler interrupts a thread that calls work() all the time, at
// any instruction, and leaves in its WAY: jump (siglongjmp), exit (the thread ends), unwind (backtrace, then
// returns).
#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <sys/time.h>

#include "work.h"

static sigjmp_buf back;
static volatile long left;
static unsigned long expected;
static const char* way;

static void on_timer(int signal) {
  void* frames[64];
  (void)signal;
  if (left <= 0) return;
  left--;
  if (*way == 'j') siglongjmp(back, 1);
  if (*way == 'e') pthread_exit(0);
  require(backtrace(frames, 64) > 1, "no frame at all");
}

static void* worker(void* unused) {
  sigset_t timer;
  sigemptyset(&timer);
  sigaddset(&timer, SIGALRM);
  sigsetjmp(back, 1);
  pthread_sigmask(SIG_UNBLOCK, &timer, 0);
  while (left > 0) require(work(7, "leaves") == expected, "a sum between two leaps");
  pthread_sigmask(SIG_BLOCK, &timer, 0);
  return unused;
}

int main(int argc, char** argv) {
  require(argc == 3, "usage: leaves WAY N");
  struct sigaction action = {.sa_handler = on_timer};
  struct itimerval every = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
  void* frames[64];
  sigset_t timer;
  way = argv[1];
  expected = work(7, "leaves");
  backtrace(frames, 64);  // loads what it needs
  sigemptyset(&timer);
  sigaddset(&timer, SIGALRM);
  sigprocmask(SIG_BLOCK, &timer, 0);
  sigaction(SIGALRM, &action, 0);
  say("ready");
  while (next_round()) {
    left = atol(argv[2]);
    setitimer(ITIMER_REAL, &every, 0);
    while (left > 0) {
      pthread_t thread;
      require(!pthread_create(&thread, 0, worker, 0), "pthread_create");
      require(!pthread_join(thread, 0), "pthread_join");
    }
    setitimer(ITIMER_REAL, &never, 0);
    require(work(7, "leaves") == expected, "the last sum");
    say("done");
  }
  return 0;
}
