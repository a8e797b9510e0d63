// SPDX-License-Identifier: MIT
// many: calls all functions of the generated file (gen_many.py) once per round.
#include "target.h"

typedef unsigned long Function(unsigned long);
extern Function* const many_functions[];
extern const unsigned long many_count;

int main(void) {
  unsigned long sum = 1;
  say("info count=%lu", many_count);
  say("ready");
  while (next_round()) {
    for (unsigned long i = 0; i < many_count; i++) sum = many_functions[i](sum + i);
    say("calls=%lu checksum=%lx", many_count, sum);
    say("done");
  }
  return 0;
}
