// SPDX-License-Identifier: MIT
// Calls a function at the end of some frames, compiled without frame pointers: what an event with a backtrace
// costs is measured on it.
#include <stddef.h>

#include "burst.h"

#define FRAME(name, callee)                                       \
  __attribute__((noipa)) int name(int n, const char* text) {      \
    int result = callee(n + 1, text);                             \
    __asm__ volatile("" : "+r"(result) : : "rbx", "r12", "memory"); \
    return result + 1;                                            \
  }

__attribute__((noipa)) int stack_leaf(int n, const char* text) { return n + text[0]; }
FRAME(stack_1, stack_leaf)
FRAME(stack_2, stack_1)
FRAME(stack_3, stack_2)
FRAME(stack_4, stack_3)

BURST_LOOP(loop_stack, stack_4)

int main(void) {
  static const struct burst_variant variants[] = {{"stack", loop_stack}, {NULL, NULL}};
  return burst_main(variants);
}
