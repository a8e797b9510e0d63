// SPDX-License-Identifier: MIT
// reads_own_text: compares the code of a probed function with what it was at the start, in each round.
#include "target.h"

enum { kSize = 16 };

PROBED int checked(int a) {
  __asm__ volatile("" : "+r"(a));
  return a * 1000003 + 1;
}

int main(void) {
  unsigned char before[kSize];
  memcpy(before, (const void*)(uintptr_t)checked, kSize);
  say("ready");
  for (int round = 1; next_round(); round++) {
    require(checked(round) == (int)((unsigned)round * 1000003u + 1), "the product");
    say("info changed%d=%d", round, memcmp(before, (const void*)(uintptr_t)checked, kSize) != 0);
    say("done");
  }
  return 0;
}
