// SPDX-License-Identifier: MIT
// odd N: calls every function of odd.s N times with all combinations of flags and prints what each returned.
#include "target.h"

struct Odd {
  unsigned long (*function)(unsigned long);
  const char* name;
};
extern const struct Odd odd_functions[];
unsigned long odd_call(unsigned long (*function)(unsigned long), unsigned long x, unsigned long flags);

int main(int argc, char** argv) {
  unsigned long n = argc > 1 ? strtoul(argv[1], 0, 0) : 100;
  const unsigned long bits[] = {0, 0x1, 0x4, 0x10, 0x40, 0x80, 0x800, 0x8d5};
  say("ready");
  while (next_round()) {
    for (const struct Odd* odd = odd_functions; odd->function; odd++) {
      unsigned long sum = 0;
      for (unsigned long i = 0; i < n; i++) sum = sum * 31 + odd_call(odd->function, i, 0x202 | bits[i % 8]);
      say("%s_calls=%lu sum %lx", odd->name, n, sum);
    }
    say("done");
  }
  return 0;
}
