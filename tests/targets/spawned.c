// SPDX-License-Identifier: MIT
// spawned [N] [STATUS]: does N calls of work() from main() and one from a constructor, tells their number,
// and ends with STATUS. With a library of its own: the same for lib_work().
#include "work.h"

static unsigned long early, sum;

PROBED unsigned long before_main(unsigned long i) { return work(i, "early"); }
__attribute__((constructor)) static void at_start(void) {
  sum += before_main(77);
  early++;
}

#ifdef WITH_LIBRARY
extern unsigned long lib_calls, mallocs;
unsigned long lib_work(unsigned long i);
void allocate(unsigned long size);
#endif

int main(int argc, char** argv) {
  unsigned long n = argc > 1 ? strtoul(argv[1], 0, 0) : 10;
  for (unsigned long i = 0; i < n; i++) sum += work(i, "main");
#ifdef WITH_LIBRARY
  for (unsigned long i = 0; i < n; i++) sum += lib_work(i);
  for (unsigned long i = 0; i < n; i++) allocate(i * 100);
  say("lib_calls=%lu mallocs=%lu", lib_calls, mallocs);
#endif
  say("calls=%lu checksum=%lx", n + early, sum);
  return argc > 2 ? atoi(argv[2]) : 0;
}
