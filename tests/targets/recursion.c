// SPDX-License-Identifier: MIT
// recursion N: fib(N) by recursion, once per round.
#include "target.h"

static unsigned long calls;

PROBED unsigned long fib(unsigned long n) {
  calls++;
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

int main(int argc, char** argv) {
  unsigned long n = argc > 1 ? strtoul(argv[1], 0, 0) : 20;
  say("ready");
  while (next_round()) {
    calls = 0;
    unsigned long result = fib(n);
    say("fib=%lu calls=%lu", result, calls);
    say("done");
  }
  return 0;
}
