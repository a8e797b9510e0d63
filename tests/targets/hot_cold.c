// SPDX-License-Identifier: MIT
// hot_cold [N]: N calls of split() per round, whose unlikely half lies in .text.unlikely, and of cold().
#include "target.h"

static volatile unsigned long failures;

__attribute__((cold)) PROBED unsigned long cold(unsigned long i) {
  failures += i;
  return i * 7 + failures % 3;
}

__attribute__((noinline)) unsigned long split(unsigned long i, const char* s) {
  if (__builtin_expect_with_probability(i % 8 == 5, 0, 1.0)) {
    char text[64];
    snprintf(text, sizeof text, "%s %lu %lx", s, i, cold(i));
    for (const char* p = text; *p; p++) i = i * 31 + (unsigned char)*p;
    if (i == 0) abort();
    return i;
  }
  return i ^ (unsigned long)s[0] << 3;
}

int main(int argc, char** argv) {
  unsigned long n = argc > 1 ? strtoul(argv[1], 0, 0) : 1000, sum = 0;
  say("info pid=%d", getpid());
  say("ready");
  while (next_round()) {
    unsigned long colds = 0;
    for (unsigned long i = 0; i < n; i++) {
      sum = sum * 3 + split(i, "text");
      colds += i % 8 == 5;
    }
    say("calls=%lu splits=%lu colds=%lu checksum=%lx", n + colds, n, colds, sum);
    say("done");
  }
  return 0;
}
