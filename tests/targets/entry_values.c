// SPDX-License-Identifier: MIT
// Arguments that nobody keeps: in `leaf` they are known by who has called it, and by who has called that.
#include <stdio.h>
#include <stdlib.h>

#define ALONE __attribute__((noipa))

ALONE void use(long value) { __asm__ volatile("" ::"r"(value) : "memory"); }

ALONE long leaf(long a, int b, const char* text) {
  use(a + b + (text ? text[0] : 0));
  use(3);  // here
  return 4;
}

ALONE long middle(long x, long y) {
  long sum = leaf(x, 7, "hello");
  use(sum);
  sum += leaf(y * 2, (int)x, "other");
  use(x);
  return sum + y;
}

ALONE long outer(long first) {
  long sum = leaf(first, 1, "outer");
  use(5);
  return sum;
}

int main(int argc, char** argv) {
  long numbers[4] = {1, 2, 3, 4}, sum = 0;
  use((long)numbers);
  const int rounds = argc > 1 ? atoi(argv[1]) : 2;
  for (int i = 0; i < rounds; i++) sum += middle(i, i + 5);
  sum += leaf((long)&numbers[1] - (long)&numbers[0] + argc - argc, argc, argv[0]);
  long (*volatile pointer)(long, int, const char*) = leaf;
  sum += pointer(77, 78, "by a pointer");
  sum += outer(41);
  printf("%ld\n", sum);
  return 0;
}
