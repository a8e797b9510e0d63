// SPDX-License-Identifier: MIT
// inlined N: functions that were put into their callers; each counts its own calls.
#include "target.h"

#define INLINED static inline __attribute__((always_inline))

struct item {
  int size;
  const char* name;
};

static volatile unsigned long tiny_calls, both_calls, changed_calls, deep_calls;

// Nowhere but in others.
INLINED int tiny(int n, const struct item* item) {
  tiny_calls = tiny_calls + 1;
  asm volatile("" ::"r"(n), "r"(item) : "memory");
  return n * 3;
}

// Also called through a pointer.
INLINED int both(int n) {
  both_calls = both_calls + 1;
  asm volatile("" ::"r"(n));
  return n + 1;
}

// Its parameter is not what it was behind the first instruction.
INLINED int changed(int n) {
  n += 1000;
  changed_calls = changed_calls + 1;
  asm volatile("" ::"r"(n));
  return n;
}

INLINED int deep(int n) {
  deep_calls = deep_calls + 1;
  return both(n * 2);
}

PROBED int in_loop(int n, const struct item* item) {
  int sum = 0;
  for (int i = 0; i < n; i++) sum += tiny(i, item);
  return sum;
}

PROBED int twice(int n, const struct item* item) { return tiny(n, item) + tiny(n + 100, item); }
PROBED int calls_both(int n) { return both(n); }
PROBED int calls_deep(int n) { return deep(n); }
PROBED int calls_changed(int n) { return changed(n); }

int (*volatile pointer)(int) = both;

int main(int argc, char** argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 5;
  const struct item item = {.size = 7, .name = "an item"};
  say("info pid=%d", getpid());
  say("ready");
  while (next_round()) {
    tiny_calls = both_calls = changed_calls = deep_calls = 0;
    int sum = in_loop(n, &item) + twice(n, &item) + calls_both(20) + calls_deep(30) + pointer(40);
    for (int i = 0; i < n; i++) sum += calls_changed(i);
    say("calls=%lu tiny=%lu both=%lu changed=%lu deep=%lu total=%d",
        tiny_calls + both_calls + changed_calls + deep_calls, tiny_calls, both_calls, changed_calls,
        deep_calls, sum);
    say("done");
  }
  return 0;
}
