// SPDX-License-Identifier: MIT
// Functions that are left in all the ways compilers know. Run one instruction at a time by the tests of exits, which compare what happens
// with what they found.
#include <alloca.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

typedef uint64_t (*Operation)(uint64_t);

static volatile uint64_t sink;

NOINLINE uint64_t returns(uint64_t n) { return n * 3 + 1; }
NOINLINE uint64_t twice(uint64_t n) { return n * 2; }
NOINLINE uint64_t half(uint64_t n) { return n / 2; }
NOINLINE void nothing(void) { __asm__ volatile(""); }

NOINLINE uint64_t several_returns(uint64_t n) {
  if (n % 5 == 0) return sink = n;
  if (n % 5 == 1) return returns(n) + 1;
  if (n % 5 == 2) return 7;
  return returns(n) * returns(n + 1);
}

NOINLINE uint64_t tail_call(uint64_t n) { return returns(n + 1); }

NOINLINE uint64_t tail_call_behind_a_frame(uint64_t n) {
  const uint64_t a = returns(n), b = twice(n);
  sink = a;
  return half(a + b);
}

static Operation chosen = half;
NOINLINE uint64_t tail_call_through_a_pointer(uint64_t n) { return chosen(n + 2); }

NOINLINE uint64_t tail_call_through_an_argument(uint64_t n, Operation f) {
  sink = returns(n);
  return f(n);
}

static const Operation operations[] = {returns, twice, half, tail_call};

NOINLINE uint64_t tail_call_through_an_array(uint64_t n) { return operations[n & 3](n); }

// An array of functions and a switch in one function.
NOINLINE uint64_t array_and_switch(uint64_t n) {
  char text[40];
  switch (n % 8) {
    case 0: strcpy(text, "zero"); break;
    case 1: sink = twice(n); return 5;
    case 2: snprintf(text, sizeof text, "%u", (unsigned)n); break;
    case 3: sink += half(n); break;
    case 4: return returns(n);
    case 5: memset(text, 1, sizeof text); break;
    case 6: sink = returns(sink); break;
    default: strcpy(text, "more"); sink += (uint64_t)text[1]; break;
  }
  return operations[(n + sink) & 3](n);
}

NOINLINE uint64_t leaf_switch(uint64_t n) {
  switch (n) {
    case 0: return 11;
    case 1: sink = 3; return 2;
    case 2: sink = n; __attribute__((fallthrough));
    case 3: return sink + 5;
    case 4: sink += 4; break;
    case 5: return sink * 9;
    case 6: sink ^= n; break;
    default: sink = 1;
  }
  return sink;
}

// A switch before the frame is made, if the compiler moves that behind it.
NOINLINE uint64_t switch_before_the_frame(uint64_t n, uint64_t *p) {
  switch (n) {
    case 0: return 1;
    case 1: return *p;
    case 2: return returns(*p) + twice(n) + *p;
    case 3: return half(*p);
    case 4: return *p + 1;
    case 5: return *p ^ 77;
    default: return 0;
  }
}

NOINLINE uint64_t interpreter(const uint8_t *code, uint64_t n) {
  static const void *const labels[] = {&&add, &&call, &&leave, &&end};
  for (;;) {
    goto *labels[*code++];
  add:
    n += 3;
    continue;
  call:
    n = returns(n);
    continue;
  leave:
    return twice(n);
  end:
    return n;
  }
}

NOINLINE uint64_t leaf_interpreter(const uint8_t *code, uint64_t n) {
  static const void *const labels[] = {&&add, &&mix, &&end, &&zero};
  goto *labels[*code++];
add:
  n += 3;
  goto *labels[*code++];
mix:
  n ^= n << 3;
  goto *labels[*code++];
zero:
  return 0;
end:
  return n;
}

// Each word of the program is the address of what to do.
NOINLINE uint64_t threaded(const void *const *code, uint64_t n, const void *const **labels_out) {
  static const void *const labels[] = {&&add, &&mix, &&end};
  if (labels_out) {
    *labels_out = labels;
    return 0;
  }
  goto **code++;
add:
  n += 3;
  goto **code++;
mix:
  n ^= n << 3;
  goto **code++;
end:
  return n;
}

NOINLINE uint64_t any_size(uint64_t n) {
  char *room = alloca(n % 200 + 16);
  memset(room, (int)n, n % 200 + 16);
  sink = (uint64_t)room[n % 16];
  if (n % 3 == 0) return returns(sink);
  return half(n);
}

NOINLINE uint64_t aligned(uint64_t n) {
  __attribute__((aligned(64))) volatile char room[128];
  room[n % 128] = (char)n;
  sink = returns((uint64_t)room[n % 128]);
  if (n & 1) return 1;
  return sink + ((uintptr_t)room & 63);
}

__attribute__((cold)) NOINLINE static uint64_t rare(const char *why, uint64_t n) {
  sink = strlen(why) + n;
  return sink;
}

// The unlikely ways are moved to f.cold: one comes back, one returns there, one jumps on, one ends the program.
NOINLINE uint64_t hot_and_cold(uint64_t n) {
  uint64_t x = returns(n);
  if (__builtin_expect(n % 7 == 0, 0)) x += rare("comes back", n) * 3;
  if (__builtin_expect(n % 11 == 0, 0)) return rare("returns", x) + 5;
  if (__builtin_expect(n % 13 == 0, 0)) return rare("jumps on", x);
  if (__builtin_expect(n == 1u << 30, 0)) {
    fputs("impossible\n", stderr);
    abort();
  }
  return x + twice(x);
}

NOINLINE uint64_t cold_without_a_frame(uint64_t n) {
  if (__builtin_expect(n % 9 == 0, 0)) sink = rare("without a frame", n);
  return n + 1;
}

NOINLINE static uint64_t recursive(uint64_t n) { return n < 2 ? n : recursive(n - 1) + recursive(n - 2); }
NOINLINE static uint64_t countdown(uint64_t n, uint64_t sum) {
  if (n == 0) return sum;
  return countdown(n - 1, returns(sum));
}
NOINLINE uint64_t calls_a_recursive_one(uint64_t n) { return recursive(n % 6 + 2); }

NOINLINE static uint64_t is_odd(uint64_t n);
NOINLINE static uint64_t is_even(uint64_t n) { return n == 0 ? 1 : is_odd(n - 1); }
NOINLINE static uint64_t is_odd(uint64_t n) { return n == 0 ? 0 : is_even(n - 1); }

NOINLINE uint64_t sum_of(int count, ...) {
  va_list list;
  va_start(list, count);
  uint64_t sum = 0;
  for (int i = 0; i < count; ++i) sum += va_arg(list, uint64_t);
  va_end(list);
  return sum;
}

struct Large {
  uint64_t word[9];
};
NOINLINE struct Large large(uint64_t n) {
  struct Large result;
  for (int i = 0; i < 9; ++i) result.word[i] = n + (uint64_t)i;
  return result;
}

static jmp_buf point;
NOINLINE uint64_t sets_a_point(uint64_t n) {
  if (setjmp(point)) return 1;
  sink = n;
  return 0;
}

__attribute__((noreturn)) NOINLINE static void ends(uint64_t sum) {
  printf("%llu\n", (unsigned long long)sum);
  exit(0);
}

int main(void) {
  static const uint8_t program[] = {0, 1, 0, 2}, leaf_program[] = {0, 1, 0, 1, 2}, other[] = {0, 1, 3};
  const void *const *labels;
  threaded(NULL, 0, &labels);
  const void *const words[] = {labels[0], labels[1], labels[0], labels[2]};
  uint64_t sum = 0;
  for (uint64_t n = 0; n < 40; ++n) {
    nothing();
    sum += several_returns(n) + tail_call(n) + tail_call_behind_a_frame(n) + tail_call_through_a_pointer(n);
    sum += tail_call_through_an_argument(n, operations[n & 3]) + tail_call_through_an_array(n);
    sum += array_and_switch(n) + leaf_switch(n % 9) + switch_before_the_frame(n % 8, &sum);
    sum += interpreter(n & 1 ? program : other, n) + leaf_interpreter(n & 1 ? leaf_program : other, n);
    sum += threaded(words, n, NULL) + any_size(n) + aligned(n) + hot_and_cold(n) + cold_without_a_frame(n);
    sum += calls_a_recursive_one(n) + countdown(n, sum) + is_even(n) + sum_of(3, n, sum, n);
    sum += large(n).word[n % 9] + sets_a_point(n);
  }
  ends(sum);
}
