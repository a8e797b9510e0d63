// SPDX-License-Identifier: MIT
// lines N: tells which of its lines hold what, and how often they ran.
#include "target.h"

enum { kBody = __LINE__ + 4, kAfter = kBody + 1, kEmpty = kBody + 2 };
PROBED unsigned long sum_up(unsigned long n) {
  unsigned long sum = 0;
  for (unsigned long i = 0; i < n; i++)
    sum += i * i;
  return sum;

}

static volatile unsigned long times;
enum { kInlined = __LINE__ + 1 };
static inline __attribute__((always_inline)) void inlined(void) { times = times + 1; }
PROBED void once(void) { inlined(); }
PROBED void thrice(void) {
  inlined();
  inlined();
  inlined();
}

int main(int argc, char** argv) {
  unsigned long n = argc > 1 ? strtoul(argv[1], 0, 0) : 10;
  say("info pid=%d body=%d after=%d empty=%d inlined=%d", getpid(), kBody, kAfter, kEmpty, kInlined);
  say("ready");
  while (next_round()) {
    times = 0;
    const unsigned long sum = sum_up(n);
    once();
    thrice();
    say("calls=%lu sum=%lu times=%lu", n, sum, times);
    say("done");
  }
  return 0;
}
