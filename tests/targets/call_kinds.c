// SPDX-License-Identifier: MIT
// call_kinds KIND N: N calls per round that end in the way KIND says. `calls` are those that return.
#include <pthread.h>
#include <setjmp.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>

#include "target.h"

static unsigned long calls, entered;

// ---- longjmp: every third call is left by it
static jmp_buf landing;

PROBED unsigned long leap(unsigned long i) {
  if (i % 3 == 0) longjmp(landing, 1);
  return i * 2;
}

static void leaps(unsigned long n) {
  static unsigned long i;
  for (i = 0; i < n; i++) {
    if (setjmp(landing)) continue;
    entered += i % 3 == 0;
    require(leap(i) == i * 2, "leap");
    calls++;
  }
}

// ---- contexts: calls on stacks of their own that are left and taken up again in the middle
enum { kContexts = 8, kStack = 64 << 10 };
static ucontext_t home, contexts[kContexts];
static char stacks[kContexts][kStack] __attribute__((aligned(16)));

PROBED unsigned long pause_in_the_middle(unsigned long i) {
  swapcontext(&contexts[i % kContexts], &home);
  return i + 1000;
}

static void run_context(int number) {
  require(pause_in_the_middle((unsigned long)number) == (unsigned long)number + 1000, "context");
  calls++;
}

static void switches(unsigned long n) {
  for (unsigned long i = 0; i < n; i++) {
    for (int k = 0; k < kContexts; k++) {
      getcontext(&contexts[k]);
      contexts[k].uc_stack.ss_sp = stacks[k];
      contexts[k].uc_stack.ss_size = kStack;
      contexts[k].uc_link = &home;
      makecontext(&contexts[k], (void (*)(void))run_context, 1, k);
      swapcontext(&home, &contexts[k]);
    }
    for (int k = 0; k < kContexts; k++) swapcontext(&home, &contexts[k]);
  }
}

// ---- handler: a signal on another stack in the middle of a call
static char handler_stack[64 << 10];

PROBED unsigned long in_handler(unsigned long i) { return i * 3; }

static void on_signal(int signal) {
  require(in_handler((unsigned long)signal) == (unsigned long)signal * 3, "in_handler");
  calls++;
}

PROBED unsigned long interrupted(unsigned long i) {
  raise(SIGUSR2);
  return i * 5;
}

static void signals(unsigned long n) {
  const stack_t alternate = {.ss_sp = handler_stack, .ss_size = sizeof handler_stack};
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
  sigaltstack(&alternate, 0);
  sigaction(SIGUSR2, &action, 0);
  for (unsigned long i = 0; i < n; i++) {
    require(interrupted(i) == i * 5, "interrupted");
    calls++;
  }
}

// ---- fork: the child returns from its parent's call
PROBED unsigned long twice(unsigned long i) {
  const pid_t child = fork();
  if (child == 0) return i + 1;
  int status;
  require(waitpid(child, &status, 0) == child && status == 0, "child");
  return i;
}

static void forks(unsigned long n) {
  for (unsigned long i = 0; i < n; i++) {
    const unsigned long result = twice(i);
    if (result == i + 1) _exit(0);
    calls += 2;
  }
}

// ---- tail: left by a jump to another function
PROBED unsigned long last(unsigned long i) { return i ^ 0x55; }
PROBED unsigned long first(unsigned long i) { return last(i + 1); }

static void tails(unsigned long n) {
  for (unsigned long i = 0; i < n; i++) {
    require(first(i) == ((i + 1) ^ 0x55), "first");
    calls++;
  }
}

// ---- threads: every other one ends inside of a call; stacks are used again
PROBED unsigned long in_thread(unsigned long i) {
  if (i % 2) pthread_exit(0);
  return i + 7;
}

static void* thread(void* number) {
  const unsigned long i = (unsigned long)number;
  require(in_thread(i) == i + 7, "in_thread");
  __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
  return 0;
}

static void threads(unsigned long n) {
  for (unsigned long i = 0; i < n; i++) {
    pthread_t t;
    require(pthread_create(&t, 0, thread, (void*)i) == 0, "pthread_create");
    require(pthread_join(t, 0) == 0, "pthread_join");
    entered += i % 2;
  }
}

// ---- clock: the time a call takes, measured inside and outside of it
static long long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static long long inside;

PROBED unsigned long timed(unsigned long i) {
  const long long begin = now();
  const struct timespec pause = {0, (long)(i + 1) * 1000000};
  nanosleep(&pause, 0);
  inside = now() - begin;
  return i;
}

static void clocks(unsigned long n) {
  char least[256] = "", most[256] = "";
  for (unsigned long i = 0; i < n; i++) {
    const long long begin = now();
    timed(i);
    const long long outside = now() - begin;
    snprintf(least + strlen(least), sizeof least - strlen(least), "%s%lld", i ? "," : "", inside);
    snprintf(most + strlen(most), sizeof most - strlen(most), "%s%lld", i ? "," : "", outside);
    calls++;
  }
  say("info least=%s most=%s", least, most);
}

// ---- wait: for another line, inside of two calls
PROBED unsigned long waits(unsigned long i) {
  say("waiting");
  require(next_round(), "another line");
  return i + 1;
}

PROBED unsigned long waits_outside(unsigned long i) { return waits(i) * 2; }

static void lines(unsigned long n) {
  for (unsigned long i = 0; i < n; i++) {
    require(waits_outside(i) == (i + 1) * 2, "waits_outside");
    calls++;
  }
}

static const struct {
  const char* name;
  void (*run)(unsigned long);
} kinds[] = {{"longjmp", leaps}, {"contexts", switches}, {"handler", signals}, {"fork", forks},
             {"tail", tails},    {"threads", threads},   {"clock", clocks},    {"wait", lines}};

int main(int argc, char** argv) {
  const unsigned long n = argc > 2 ? strtoul(argv[2], 0, 0) : 100;
  if (argc > 1 && strcmp(argv[1], "handler") == 0) signals(1);
  if (argc > 1 && strcmp(argv[1], "threads") == 0) threads(2);
  say("ready");
  while (next_round()) {
    calls = entered = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
      if (argc > 1 && strcmp(kinds[i].name, argv[1]) == 0) kinds[i].run(n);
    say("calls=%lu entered=%lu", calls, calls + entered);
    say("done");
  }
  return 0;
}
