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

struct vec3 {
  float x, y, z;
};

PROBED float scale(struct vec3 v, float k) {
  float sum = 0;
  for (int i = 0; i < (int)k; ++i) {
    sum += v.x * k + v.y + v.z;
    v.y += 1;
  }
  return sum;
}

PROBED double magnitude(double _Complex c, float _Complex d) {
  return __real__ c * __real__ c + __imag__ c * __imag__ c + (double)(__real__ d) + (double)(__imag__ d);
}

PROBED long fold(__int128 wide, short unused, struct vec3 v) {
  (void)unused;
  return (long)(wide >> 64) ^ (long)wide ^ (long)v.z;
}

// A function that gcc takes apart has a name of its own, and parameters that follow no convention.
static __attribute__((noinline)) long only_a(struct fields v, long unused, const long* p) {
  (void)unused;
  asm volatile("" ::: "memory");
  return v.a + *p;
}

int main(int argc, char** argv) {
  const int calls = argc > 1 ? atoi(argv[1]) : 3;
  say("ready");
  while (next_round()) {
    long sum = 0;
    double real = 0;
    for (int i = 0; i < calls; ++i) {
      sum += take_fields(give_fields(i));
      sum += take_tight((struct tight){.head = (unsigned)i, .wide = -i, .tail = 3 * i});
      const float f = (float)i;
      real += (double)scale((struct vec3){f, -f, 2 * f}, f + 1);
      real += magnitude(f + 2.0i * f, 3.0F * f - 1.0if * f);
      const long one = 1;
      sum += fold((__int128)i << 64 | 5, (short)-i, (struct vec3){f, f, f});
      sum += only_a(give_fields(i), i, &one);
    }
    say("sum=%ld real=%d", sum, (int)real);
    say("done");
  }
  return 0;
}
