// SPDX-License-Identifier: MIT
// main_again N: a round calls main N times, each of which returns at once.
#include "target.h"

int main(int argc, char** argv) {
  if (argc == 0) return 1;
  int (*volatile again)(int, char**) = main;
  unsigned long n = argc > 1 ? strtoul(argv[1], 0, 0) : 100, total = 0;
  say("info main=%#lx", (unsigned long)main);
  say("ready");
  while (next_round()) {
    for (unsigned long i = 0; i < n; i++) total += (unsigned long)again(0, argv);
    say("calls=%lu total=%lu", n, total);
    say("done");
  }
  return 0;
}
