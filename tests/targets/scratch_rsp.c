// SPDX-License-Identifier: MIT
// scratch_rsp N: a round calls `scratch`, which uses rsp as a register like any other, N times; a thread does
// so all the time by another name, so that a stop finds it without a stack.
#include <pthread.h>

#include "target.h"

unsigned long scratch(unsigned long, unsigned long), scratch_always(unsigned long, unsigned long);

#define SCRATCH(name)                      \
  asm(".text\n"                            \
      ".globl " #name                      \
      "\n"                                 \
      ".type " #name ", @function\n" #name \
      ": movq %rsp, %xmm0\n"               \
      "  lea (%rdi,%rsi), %rsp\n"          \
      "  mov %rsp, %rax\n"                 \
      "  imul $3, %rsp, %rsp\n"            \
      "  sub %rax, %rsp\n"                 \
      "  mov %rsp, %rax\n"                 \
      "  movq %xmm0, %rsp\n"               \
      "  ret\n"                            \
      ".size " #name ", . - " #name "\n")

SCRATCH(scratch);
SCRATCH(scratch_always);

static volatile int stop, working;

static void* always(void* unused) {
  (void)unused;
  for (unsigned long x = 0; !stop; x += 12345) {
    require(scratch_always(x, 7) == 2 * (x + 7), "a sum made in rsp");
    working = 1;
  }
  return 0;
}

int main(int argc, char** argv) {
  unsigned long n = argc > 1 ? strtoul(argv[1], 0, 0) : 100;
  pthread_t thread;
  require(!pthread_create(&thread, 0, always, 0), "pthread_create");
  while (!working) usleep(100);
  say("ready");
  while (next_round()) {
    for (unsigned long i = 0; i < n; i++) require(scratch(i, n) == 2 * (i + n), "a sum made in rsp");
    say("calls=%lu", n);
    say("done");
  }
  stop = 1;
  pthread_join(thread, 0);
  return 0;
}
