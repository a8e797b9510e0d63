// SPDX-License-Identifier: MIT
// hammer T: T threads call tiny functions all the time from the start, so that a stop finds them inside the
// first bytes of one. Each result is checked. The functions are in tiny.s.
#include <pthread.h>

#include "target.h"

typedef unsigned long Tiny(unsigned long, unsigned long);
extern Tiny* const tiny_functions[];
extern const unsigned long tiny_count;

static volatile int stop;
static unsigned long passes[64];

static void* thread(void* seed) {
  unsigned long x = (unsigned long)seed;
  for (unsigned long pass = 0; !stop; pass++) {
    for (unsigned long f = 0; f < tiny_count; f++) {
      for (int k = 0; k < 64; k++) {
        unsigned long y = x ^ (unsigned long)k;
        require(tiny_functions[f](x, y) == x + y, "a tiny function's sum");
      }
      x = x * 6364136223846793005ul + 1442695040888963407ul;
    }
    __atomic_store_n(&passes[(unsigned long)seed - 1], pass, __ATOMIC_RELAXED);
  }
  return 0;
}

int main(int argc, char** argv) {
  long count = argc > 1 ? atol(argv[1]) : 2;
  pthread_t threads[64];
  for (long i = 0; i < count; i++)
    require(!pthread_create(&threads[i], 0, thread, (void*)(i + 1)), "pthread_create");
  for (long i = 0; i < count; i++)
    while (__atomic_load_n(&passes[i], __ATOMIC_RELAXED) < 2) usleep(100);
  say("ready");
  while (next_round()) say("done");
  stop = 1;
  for (long i = 0; i < count; i++) pthread_join(threads[i], 0);
  return 0;
}
