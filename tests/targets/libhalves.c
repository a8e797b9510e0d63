// SPDX-License-Identifier: MIT
// A library with a function that is inlined in it, and called through a pointer too.
static inline __attribute__((always_inline)) int half_of(int n) {
  asm volatile("" ::"r"(n));
  return n / 2;
}

int (*volatile half_pointer)(int) = half_of;

__attribute__((noinline, used)) int two_halves(int n) { return half_of(n) + half_of(n + 1); }
