// SPDX-License-Identifier: MIT
// ifunc_calls N: calls an IFUNC of a library, one of its own, and strlen, N times each per round.
#include "ifunc.h"
#include "target.h"

typedef unsigned long Function(unsigned long);

static PROBED unsigned long own_a(unsigned long i) { return i * 3 % 17; }
static PROBED unsigned long own_b(unsigned long i) { return i * 7 % 19; }
static Function* choose_own(void) { return own_b; }
unsigned long own(unsigned long i) __attribute__((ifunc("choose_own")));

int main(int argc, char** argv) {
  unsigned long n = argc > 1 ? strtoul(argv[1], 0, 0) : 100, sum = own_a(1) + picked(1);
  const char* volatile text = "some text";
  if (argc > 2) sum += never_called(n);
  say("ready");
  while (next_round()) {
    for (unsigned long i = 0; i < n; i++) sum = sum * 3 + picked(i) + own(i) + (strlen)(text);
    say("calls=%lu checksum=%lx", n, sum);
    say("done");
  }
  return 0;
}
