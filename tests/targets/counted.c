// SPDX-License-Identifier: MIT
// Runs through a few functions of different shapes and ends: for comparing numbers of instructions.
#include "target.h"

PROBED unsigned fib(unsigned n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

PROBED unsigned long work(unsigned long i, const char* s) {
  unsigned long sum = i;
  for (; *s; s++) sum = sum * 31 + (unsigned char)*s;
  return sum ^ (sum >> 7);
}

PROBED int spread(int i) {
  switch (i % 9) {
    case 0: return i + 3;
    case 1: return i * 5;
    case 2: return i ^ 77;
    case 3: return i << 2;
    case 4: return i - 9;
    case 5: return i | 1;
    case 7: return -i;
    default: return 0;
  }
}

int main(void) {
  unsigned long sum = fib(12);
  for (int i = 0; i < 100; i++) sum = sum * 3 + work((unsigned long)i, "some text") + (unsigned long)spread(i);
  say("%lx", sum);
  return 0;
}
