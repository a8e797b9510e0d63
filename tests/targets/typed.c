// SPDX-License-Identifier: MIT
// typed [ROUNDS]: calls functions with arguments of every kind; the values are known.
#include <stdbool.h>

#include "target.h"

enum color { RED, GREEN = 5, BLUE = -3 };

struct header {
  const char* name;
  int length;
};

struct point {
  int x, y;
};

struct request {
  int id;
  const char* path;
  struct header headers[3];
  struct point at;
  enum color color;
  unsigned kind : 3;
  int delta : 5;
  struct request* next;
  char tag[8];
};

int global_counter = 40;
char global_text[] = "a text at a known address";
double global_ratio = 2.5;

PROBED int handle(struct request* req, int n, const char* who, unsigned char small, long long large) {
  int sum = n + req->id + small;
  asm volatile("" : "+r"(sum)::"memory");
  global_counter += 1;
  return sum + (int)large + (who ? who[0] : 0);
}

PROBED double numbers(double a, float b, bool yes, char letter, short s, enum color color) {
  asm volatile("" ::: "memory");
  return a + (double)b + yes + letter + s + (int)color;
}

PROBED int by_value(struct point p, struct point* where, int seventh_a, int b, int c, int d, int e, int on_stack) {
  asm volatile("" ::: "memory");
  return p.x + p.y + where->x + seventh_a + b + c + d + e + on_stack;
}

PROBED int text_of(char* buffer, int size, const void* bad) {
  asm volatile("" ::: "memory");
  return buffer[0] + size + (bad != 0);
}

int main(int argc, char** argv) {
  const int calls = argc > 1 ? atoi(argv[1]) : 3;
  static struct request last = {.id = 2, .path = "/last", .tag = "tail"};
  static struct request first = {.id = 1,
                                 .path = "/admin",
                                 .headers = {{"Host", 4}, {"Accept", 6}, {"Cookie", 7}},
                                 .at = {3, -4},
                                 .color = GREEN,
                                 .kind = 5,
                                 .delta = -7,
                                 .next = &last,
                                 .tag = "12345678"};
  struct point where = {70, 80};
  char buffer[64] = "words in a buffer";
  say("info counter=%#lx text=%#lx request=%#lx", (unsigned long)&global_counter, (unsigned long)global_text,
      (unsigned long)&first);
  say("ready");
  while (next_round()) {
    global_counter = 40;
    for (int i = 0; i < calls; i++) {
      handle(i % 2 ? &last : &first, i, i == 2 ? 0 : "a name", (unsigned char)(200 + i), -5000000000LL);
      numbers(1.5, -0.25F, i % 2 == 0, 'q', (short)-i, i == 0 ? RED : BLUE);
      by_value((struct point){i, -i}, &where, 3, 4, 5, 6, 7, 8 + i);
      text_of(buffer, 17, (const void*)16);
    }
    say("calls=%d counted=%d", calls, global_counter);
    say("done");
  }
  return 0;
}
