// SPDX-License-Identifier: MIT
// Calls leaf() from as many different stacks as there are ways down a tree of kDepth forks.
#include "target.h"

enum { kDepth = 16 };

PROBED void leaf(long n) { __asm__ volatile("" : : "r"(n)); }

PROBED void left(int depth, long n);
PROBED void right(int depth, long n);

static inline void both(int depth, long n) {
  if (depth == 0) {
    leaf(n);
  } else {
    left(depth - 1, n * 2);
    right(depth - 1, n * 2 + 1);
  }
  __asm__ volatile("");  // the calls are no jumps
}

PROBED void left(int depth, long n) { both(depth, n); }
PROBED void right(int depth, long n) { both(depth, n); }

int main(void) {
  say("ready");
  while (next_round()) {
    left(kDepth, 0);
    say("calls=%d", 1 << kDepth);
    say("done");
  }
  return 0;
}
