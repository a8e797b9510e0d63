// SPDX-License-Identifier: MIT
// The library of spawned: works in a constructor, which runs before the program's first function.
#include "target.h"

unsigned long lib_calls;
PROBED unsigned long lib_work(unsigned long i) { return ++lib_calls * 7 + i; }
PROBED unsigned long lib_constructor_work(void) { return lib_work(1); }

unsigned long mallocs;
PROBED void allocate(unsigned long size) {
  void* volatile memory = malloc(size);
  mallocs++;
  free(memory);
}

__attribute__((constructor)) static void at_load(void) {
  lib_constructor_work();
  allocate(100);
}
