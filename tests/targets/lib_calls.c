// SPDX-License-Identifier: MIT
// lib_calls N: calls a function of its own library, libcalls.so.1, and one of the same name in the
// executable.
#include "target.h"

unsigned long lib_work(unsigned long i);
PROBED unsigned long parse_one(unsigned long i) { return i * 3; }
PROBED unsigned long parse_two(unsigned long i) { return i ^ 21; }
PROBED unsigned long other(unsigned long i) { return i - 1; }

int main(int argc, char** argv) {
  unsigned long n = argc > 1 ? strtoul(argv[1], 0, 0) : 100, sum = 0;
  lib_work(1);
  say("ready");
  while (next_round()) {
    for (unsigned long i = 0; i < n; i++)
      sum += lib_work(i) + parse_one(i) + parse_two(i) * 2 + parse_two(i + 1) + other(i);
    say("calls=%lu twice=%lu checksum=%lx", n, 2 * n, sum);
    say("done");
  }
  return 0;
}
