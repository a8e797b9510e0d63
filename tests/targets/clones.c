// SPDX-License-Identifier: MIT
// clones N: functions of which the compiler makes copies for their callers (f.constprop.0), beside the function
// itself or instead of it.
#include "target.h"

static unsigned long table[64];

// All calls have one `by`: only the copy is left.
static __attribute__((noinline)) unsigned long scale(unsigned long v, unsigned long by) {
  table[v % 64] += by;
  return v * by;
}

// Others may call it, too.
__attribute__((noinline)) unsigned long fill(unsigned long v, unsigned long times) {
  for (unsigned long i = 0; i < times; i++) table[(v + i) % 64] ^= v * times;
  return table[v % 64];
}

int main(int argc, char** argv) {
  unsigned long n = argc > 1 ? strtoul(argv[1], 0, 0) : 10, sum = 0;
  say("ready");
  while (next_round()) {
    for (unsigned long i = 0; i < n; i++) sum += scale(i, 3) + fill(i, 4) + fill(sum, n);
    say("calls=%lu sum=%lx", n, sum);
    say("done");
  }
  return 0;
}
