// SPDX-License-Identifier: MIT
// tight_stack N: calls a function that needs no stack when at most N bytes are left above a page that may not
// be touched, with the stack pointer at every distance from an even address.
#include <sys/mman.h>

#include "target.h"

enum { kPage = 4096 };

const char* some_texts[3] = {"one", 0, "three"};

// tiny_lea of tiny.s, on another stack.
static unsigned long call_on(char* top, unsigned long x, unsigned long y) {
  unsigned long result;
  __asm__ volatile(
      "mov %%rsp, %%rbx\n\t"
      "mov %[top], %%rsp\n\t"
      "call tiny_lea\n\t"
      "mov %%rbx, %%rsp"
      : "=&a"(result), "+D"(x), "+S"(y)
      : [top] "r"(top)
      : "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "memory", "cc");
  return result;
}

int main(int argc, char** argv) {
  require(argc == 2, "usage: tight_stack N");
  long left = atol(argv[1]);
  char* guard = mmap(0, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  require(!mprotect(guard, kPage, PROT_NONE), "mprotect");
  say("ready");
  while (next_round()) {
    for (unsigned long i = 0; i < 1600; i++)
      require(call_on(guard + kPage + left - i % 16, i, 7) == i + 7, "a sum on a tight stack");
    say("calls=1600");
    say("done");
  }
  return 0;
}
