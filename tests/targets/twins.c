// SPDX-License-Identifier: MIT
// twins N: two functions of one name, each static in its own file, and one function of several names.
#include "target.h"

unsigned long call_other_twin(unsigned long i);
static PROBED unsigned long twin(unsigned long i) { return i * 3 % 17; }

PROBED unsigned long __impl_of_it(unsigned long i) { return i * 5 % 13; }
unsigned long a_longer_name(unsigned long i) __attribute__((alias("__impl_of_it")));
unsigned long a_name(unsigned long i) __attribute__((alias("__impl_of_it")));

int main(int argc, char** argv) {
  unsigned long n = argc > 1 ? strtoul(argv[1], 0, 0) : 100, sum = 0;
  say("ready");
  while (next_round()) {
    for (unsigned long i = 0; i < n; i++) sum = sum * 3 + twin(i) + call_other_twin(i) + __impl_of_it(i);
    say("calls=%lu twice=%lu checksum=%lx", n, 2 * n, sum);
    say("done");
  }
  return 0;
}
