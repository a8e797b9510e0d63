// SPDX-License-Identifier: MIT
// arrays [CALLS]: arrays of known and of computed lengths, and such as may go on behind their end.
#include "target.h"

struct flexible {
  int n;
  int tail[];
};
struct old_way {
  int n;
  char text[1];
};
struct grid {
  int m[3][4];
  char name[8];
};

int numbers[5] = {1, 2, 3, 4, 5};

PROBED void look(int n, int* p, const struct flexible* f, const struct old_way* o, const struct grid* g) {
  asm volatile("" : : "r"(n), "r"(p), "r"(f), "r"(o), "r"(g) : "memory");
}

PROBED void end(int* a, double (*b)[3], char* c) { asm volatile("" : : "r"(a), "r"(b), "r"(c) : "memory"); }

PROBED void lengths(int n) {
  int fixed[4] = {n, n + 1, n + 2, n + 3};
  int some[n + 2];
  double rows[n][3];
  char text[n + 8];
  for (int i = 0; i < n + 2; ++i) some[i] = 10 * i;
  for (int i = 0; i < 3 * n; ++i) rows[i / 3][i % 3] = i / 3 + .5 * (i % 3);
  memset(text, 'a' + n, sizeof text);
  text[n + 1] = '\0';
  asm volatile("" : : "r"(fixed), "r"(some), "r"(rows), "r"(text) : "memory");
  end(some, rows, text);  // the place that the tests look at
  asm volatile("" : : "r"(fixed), "r"(n) : "memory");
}

int main(int argc, char** argv) {
  const int calls = argc > 1 ? atoi(argv[1]) : 3;
  union {
    struct flexible f;
    int room[16];
  } f = {.room = {10, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109}};
  union {
    struct old_way o;
    char room[64];
  } o = {.room = "\4\0\0\0abcdefghij"};
  const struct grid g = {.m = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}}, .name = "grid"};
  say("ready");
  while (next_round()) {
    for (int i = 1; i <= calls; ++i) look(i, f.f.tail, &f.f, &o.o, &g), lengths(i);
    say("done");
  }
  return 0;
}
