// SPDX-License-Identifier: MIT
// by_value [CALLS]: passes and returns small structures by value.
#include "target.h"

struct fields {
  int a : 12;
  long b : 40;
  long c;
};

struct __attribute__((packed)) tight {
  unsigned head : 4;
  long wide : 62;
  long tail : 62;
};

PROBED long take_fields(struct fields v) {
  asm volatile("" ::: "memory");
  return v.a + v.b + v.c;
}

PROBED struct fields give_fields(int i) {
  struct fields v = {.a = i, .b = -i, .c = 2 * i};
  asm volatile("" ::: "memory");
  return v;
}

PROBED long take_tight(struct tight v) {
  asm volatile("" ::: "memory");
  return v.head + v.wide + v.tail;
}

int main(int argc, char** argv) {
  const int calls = argc > 1 ? atoi(argv[1]) : 3;
  say("ready");
  while (next_round()) {
    long sum = 0;
    for (int i = 0; i < calls; ++i) {
      sum += take_fields(give_fields(i));
      sum += take_tight((struct tight){.head = (unsigned)i, .wide = -i, .tail = 3 * i});
    }
    say("sum=%ld", sum);
    say("done");
  }
  return 0;
}
