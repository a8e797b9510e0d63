// SPDX-License-Identifier: MIT
// Two threads run a small interpreter all the time whose labels are known only as distances (computed goto), so that
// every instruction of it may be a label and jumps find room only by tactics. Every result is compared with plain code.
#include <pthread.h>

#include "target.h"

enum { kSteps = 60 };

PROBED unsigned long interpret(const unsigned char* code, unsigned long v) {
  static const int labels[] = {&&add - &&add, &&mix - &&add, &&sub - &&add, &&mul - &&add};
  int n = 0;
#define NEXT                 \
  if (++n > kSteps) return v; \
  goto*(&&add + labels[*code++ % 4])
  NEXT;
add:
  v += 3;
  NEXT;
mix:
  v ^= v << 3;
  NEXT;
sub:
  v -= 7;
  NEXT;
mul:
  v *= 5;
  NEXT;
}

static unsigned long expected(const unsigned char* code, unsigned long v) {
  for (int n = 0; n < kSteps; n++) {
    switch (code[n] % 4) {
      case 0: v += 3; break;
      case 1: v ^= v << 3; break;
      case 2: v -= 7; break;
      default: v *= 5; break;
    }
  }
  return v;
}

static volatile int stop, running;

static void* thread(void* seed) {
  unsigned long x = (unsigned long)seed;
  unsigned char code[kSteps + 1];
  __atomic_add_fetch(&running, 1, __ATOMIC_RELAXED);
  while (!stop) {
    for (int i = 0; i <= kSteps; i++) {
      x = x * 6364136223846793005ul + 1442695040888963407ul;
      code[i] = (unsigned char)(x >> 33);
    }
    require(interpret(code, x) == expected(code, x), "the interpreter's result");
  }
  return 0;
}

int main(void) {
  pthread_t threads[2];
  for (long i = 0; i < 2; i++) require(!pthread_create(&threads[i], 0, thread, (void*)(i + 1)), "pthread_create");
  while (__atomic_load_n(&running, __ATOMIC_RELAXED) < 2) usleep(100);
  say("ready");
  while (next_round()) say("done");
  stop = 1;
  for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
  return 0;
}
