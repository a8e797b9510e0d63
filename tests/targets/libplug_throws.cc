// SPDX-License-Identifier: MIT
// A library whose functions are left by exceptions.
#include "target.h"

extern "C" PROBED unsigned long plug_throw(unsigned long i) {
  if (i % 2) throw i;
  return i;
}

extern "C" PROBED unsigned long plug_work(unsigned long i) {
  try {
    return plug_throw(i) * 3 + 1;
  } catch (unsigned long thrown) {
    return thrown * 3 + 1;
  }
}
