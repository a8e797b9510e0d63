// SPDX-License-Identifier: MIT
// jump_table N: a function that is one switch (a jump table in .rodata), and one whose loop leads back to its
// entry.
#include "target.h"

PROBED unsigned long dispatch(unsigned long op, unsigned long x) {
  switch (op) {
    case 0:
      return x + 1;
    case 1:
      return x * 3;
    case 2:
      return x ^ 0x5555;
    case 3:
      return x >> 1;
    case 4:
      return x << 2;
    case 5:
      return ~x;
    case 6:
      return x - 7;
    case 7:
      return x | 0x10;
    case 8:
      return x & 0xffffff;
    case 9:
      return x / 3;
    default:
      return x;
  }
}

PROBED unsigned long count_down(unsigned long n) {
  while (n > 1) n = n % 2 ? n - 1 : n / 2;
  return n;
}

int main(int argc, char** argv) {
  unsigned long n = argc > 1 ? strtoul(argv[1], 0, 0) : 1000;
  say("ready");
  while (next_round()) {
    unsigned long x = 1;
    for (unsigned long i = 0; i < n; i++) x = dispatch(i % 11, x) + count_down(i);
    say("calls=%lu both=%lu checksum=%lx", n, 2 * n, x);
    say("done");
  }
  return 0;
}
