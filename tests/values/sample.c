// SPDX-License-Identifier: MIT
// Variables of all kinds, for tests/values.py: no two have the same value.
#include <complex.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

enum color { RED, GREEN = 7, BLUE = -2 };
struct point { int x, y; };
struct mixed { int count; float ratio; double exact; };
struct bits { unsigned a : 3; int b : 5; unsigned long long c : 40; unsigned d : 20; };
struct big { long words[6]; struct point at; const char* name; };
struct node { struct node* next; int value; union { int number; float real; }; };
typedef struct mixed mixed_t;
typedef int (*callback)(int);

int global_counter = 17;
static long file_static = 4711;
__thread int thread_counter = 99;
volatile long sink;
int matrix[2][3] = {{1, 2, 3}, {4, 5, 6}};

NOINLINE int twice(int n) { return 2 * n; }

NOINLINE long integers(char c, short s, int i, long l, unsigned char uc, uint16_t us, unsigned ui, int64_t on_stack, char last) {
  long sum = c + s + i + l;
  sum += uc + us + ui;
  sink = sum;
  sum += on_stack + last;
  return sum;
}

NOINLINE double floats(float f, double d, int i, float g, long double wide) {
  double sum = f * d;
  sum += i;
  sum -= g;
  sum += (double)wide;
  return sum;
}

NOINLINE int structures(struct point p, struct mixed m, struct big b, enum color hue, struct bits f) {
  int sum = p.x + p.y;
  sum += m.count + (int)m.exact;
  sum += (int)b.words[3] + b.at.y;
  sum += (int)hue + (int)f.c;
  sink = sum;
  return sum;
}

NOINLINE struct big returns_big(int seed, struct point at) {
  struct big result;
  memset(&result, 0, sizeof(result));
  for (int i = 0; i < 6; ++i) result.words[i] = seed * i;
  result.at = at;
  result.name = "big";
  return result;
}

NOINLINE int pointers(const char* text, struct node* list, callback call, void* nothing, int (*rows)[3]) {
  int sum = 0;
  for (struct node* at = list; at; at = at->next) {
    int here = at->value;
    sum += call(here);
  }
  sum += (int)strlen(text);
  sum += rows[1][2];
  return sum + (nothing != NULL);
}

static inline __attribute__((always_inline)) int inlined(int a, int b) {
  int product = a * b;
  sink += product;
  return product + 1;
}

NOINLINE int uses_inlined(int n, int m) {
  int first = inlined(n, 3);
  int second = inlined(m, first);
  sink += second;
  return first + second;
}

NOINLINE int loops(int n, const int* values) {
  int sum = 0, most = -1;
  for (int i = 0; i < n; ++i) {
    int value = values[i];
    sum += value;
    if (value > most) {
      int before = most;
      most = value;
      sink += before;
    }
  }
  return sum + most;
}

static NOINLINE int statics(int step) {
  static int calls = 5;
  calls += step;
  thread_counter += step;
  file_static += calls;
  return calls + global_counter;
}

NOINLINE int takes_addresses(int value, struct point where) {
  int local = value + 1;
  int* to = &local;
  sink += (long)*to;
  int* argument = &value;
  *argument += 5;
  where.x += value;
  sink += where.x;
  return local + value;
}

NOINLINE int variadic(int count, ...) {
  va_list list;
  va_start(list, count);
  int sum = 0;
  for (int i = 0; i < count; ++i) sum += va_arg(list, int);
  va_end(list);
  return sum;
}

static NOINLINE long unused_argument(int used, long unused, int also) { return used * 3L + also; }

NOINLINE int sized_at_run_time(int n) {
  int values[n];
  for (int i = 0; i < n; ++i) values[i] = i * n;
  sink += values[n - 1];
  return values[n / 2];
}

NOINLINE double complexes(double complex z, float complex w, __int128 wide, _Bool yes) {
  double part = creal(z) + cimag(w);
  part += (double)wide;
  return yes ? part : -part;
}

int main(void) {
  struct node last = {NULL, 31, {32}}, first = {&last, 33, {34}};
  const int values[] = {5, 9, 2, 11, 3};
  struct point p = {101, 102};
  struct mixed m = {103, 104.5f, 105.25};
  struct big b = {{106, 107, 108, 109, 110, 111}, {112, 113}, "name"};
  struct bits f = {.a = 5, .b = -7, .c = 123456789012, .d = 77777};
  long sum = 0;
  for (int round = 1; round <= 3; ++round) {
    sum += integers('a', -2, 3 * round, 4L << 33, 200, 60000, 4000000000U, -8, 'z');
    sum += (long)floats(1.5f * round, 2.25, 6, 3.125f, 4.0625L);
    sum += structures(p, m, b, BLUE, f);
    sum += returns_big(round, p).words[2];
    sum += pointers("text", &first, twice, &sum, matrix);
    sum += uses_inlined(round + 20, round + 30);
    sum += loops(5, values);
    sum += statics(round);
    sum += takes_addresses(round * 7, p);
    sum += variadic(3, 1, 2, round);
    sum += unused_argument(round, 44, 55);
    sum += sized_at_run_time(round + 4);
    sum += (long)complexes(1.5 + 2.5 * I, 3.5f + 4.5f * I, (__int128)7 << 65, round & 1);
  }
  printf("%ld\n", sum);
  return 0;
}
