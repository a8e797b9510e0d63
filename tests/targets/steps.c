// SPDX-License-Identifier: MIT
// steps N: N calls of each function of steps.s per round, and one of looped(N).
#include "target.h"

unsigned long straight(unsigned long i);
unsigned long looped(unsigned long n);
unsigned long dispatch(unsigned long i);
unsigned long quirky(unsigned long i);

int some_data = 1;

int main(int argc, char** argv) {
  unsigned long n = argc > 1 ? strtoul(argv[1], 0, 0) : 10;
  say("info pid=%d straight=%#lx looped=%#lx dispatch=%#lx data=%#lx", getpid(), (unsigned long)straight,
      (unsigned long)looped, (unsigned long)dispatch, (unsigned long)&some_data);
  say("ready");
  while (next_round()) {
    unsigned long straights = 0, dispatched = 0, odd = 0;
    for (unsigned long i = 0; i < n; i++) {
      straights += straight(i);
      dispatched += dispatch(i);
      odd += i % 2;
      require(quirky(i) == i + 1, "quirky");
    }
    say("calls=%lu straights=%lu loop=%lu dispatched=%lu odd=%lu", n, straights, looped(n), dispatched, odd);
    say("done");
  }
  return 0;
}
