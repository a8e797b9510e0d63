// SPDX-License-Identifier: MIT
// A library that is loaded and unloaded: plug_work(i) = FACTOR i + 1, called by its own constructor as well. SHIFTED: other
// code at the same place.
#include "target.h"

#ifdef SHIFTED
PROBED unsigned long plug_other(unsigned long i) {
  unsigned long sum = 0;
  while (i) sum += i-- * 7;
  return sum;
}
#endif

PROBED unsigned long plug_work(unsigned long i) { return i * FACTOR + 1; }
PROBED unsigned long plug_twice(unsigned long i) { return plug_work(i) + plug_work(i + 1); }

__attribute__((constructor)) static void begin(void) { require(plug_twice(1) == 3 * FACTOR + 2, "the constructor"); }
__attribute__((destructor)) static void end(void) { require(plug_work(2) == 2 * FACTOR + 1, "the destructor"); }
