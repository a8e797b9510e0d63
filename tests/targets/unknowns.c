// SPDX-License-Identifier: MIT
// unknowns: values that cannot be known at some places.
#include "target.h"

int in_library(int n);
__thread int own_of_thread = 3;

PROBED int frame(int n) {
  char room[400];
  memset(room, n, sizeof room);
  asm volatile("" : : "r"(room) : "memory");
  return room[n] + ++own_of_thread;
}

PROBED long double wide(int n) { return n + .5L; }

int main(void) {
  int sum = 0;
  say("ready");
  while (next_round()) {
    for (int i = 1; i <= 3; ++i) sum += frame(i) + in_library(i) + (int)wide(i);
    say("done");
  }
  return sum == 0;
}
