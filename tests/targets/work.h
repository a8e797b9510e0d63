// SPDX-License-Identifier: MIT
// The function most cases probe: rdi is the number of the call, s is not empty.
#pragma once
#include "target.h"

#ifdef __cplusplus
extern "C"
#endif
    PROBED unsigned long
    work(unsigned long i, const char* s) {
  unsigned long sum = i;
  do sum = sum * 31 + (unsigned char)*s;
  while (*++s);
  return sum ^ (sum >> 7);
}

// The rest of a main() that has set the stage: ready, and a hundred calls in each round.
static inline int serve_calls(const char* s) {
  say("ready");
  while (next_round()) {
    unsigned long sum = 0;
    for (unsigned long i = 0; i < 100; i++) sum += work(i, s);
    say("calls=100 checksum=%lx", sum);
    say("done");
  }
  return 0;
}
