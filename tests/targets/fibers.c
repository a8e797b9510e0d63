// SPDX-License-Identifier: MIT
// fibers heap|own|shared: eight fibers take turns, switched by a timer's handler at any instruction; each hammers a
// probed function. Their stacks are on the heap, inside the main thread's own stack, or in shared memory. A line of
// input is answered at once.
#include <poll.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>

#include "target.h"

enum { kFibers = 8, kStack = 65536 };

static ucontext_t contexts[kFibers];
static volatile int current;
static volatile unsigned long switches;

PROBED int hammered(int a) {
  __asm__ volatile("" : "+r"(a));
  return a * 1000003 + 1;
}

static void tick(int signal) {
  (void)signal;
  const int saved = errno, me = current;
  current = (me + 1) % kFibers;
  switches++;
  swapcontext(&contexts[me], &contexts[current]);
  errno = saved;
}

static void block(int how) {
  sigset_t timer;
  sigemptyset(&timer);
  sigaddset(&timer, SIGALRM);
  sigprocmask(how, &timer, 0);
}

// False at the end of input.
static int answer(void) {
  struct pollfd in = {.fd = 0, .events = POLLIN};
  if (poll(&in, 1, 0) <= 0) return 1;
  if (!next_round()) return 0;
  say("done");
  return 1;
}

static void fiber(void) {
  block(SIG_UNBLOCK);
  for (int n = 0;; n++) {
    require(hammered(n) == (int)((unsigned)n * 1000003u + 1), "the product");
    if (n % 4096) continue;
    block(SIG_BLOCK);
    if (!answer()) _exit(0);
    block(SIG_UNBLOCK);
  }
}

int main(int argc, char** argv) {
  const char* where = argc > 1 ? argv[1] : "heap";
  char inside[kFibers * kStack];
  char* stacks = inside;
  if (!strcmp(where, "heap")) stacks = malloc(kFibers * kStack);
  if (!strcmp(where, "shared"))
    stacks = mmap(0, kFibers * kStack, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  memset(stacks, 1, kFibers * kStack);
  block(SIG_BLOCK);
  for (int i = 0; i < kFibers; i++) {
    getcontext(&contexts[i]);
    contexts[i].uc_stack.ss_sp = stacks + i * kStack;
    contexts[i].uc_stack.ss_size = kStack;
    makecontext(&contexts[i], fiber, 0);
  }
  struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, 0);
  struct itimerval timer = {{0, 200}, {0, 200}};
  setitimer(ITIMER_REAL, &timer, 0);
  say("ready");
  setcontext(&contexts[0]);
  return 1;
}
