// SPDX-License-Identifier: MIT
#include "burst.h"
#include "work.h"

// A chain of multiplications: each step waits for the one before it, so its time is the same in every
// program.
int spin_work(int value, const char* text) {
  (void)text;
  unsigned long x = (unsigned long)value;
  for (long i = 0; i < burst_spin; i++) {
    x = x * 6364136223846793005ul + 1;
    __asm__ volatile("" : "+r"(x));
  }
  return (int)x;
}
