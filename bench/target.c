// SPDX-License-Identifier: MIT
// The program blip is measured on, and, untraced, what every cost is counted from.
#include <stddef.h>

#include "burst.h"
#include "work.h"

BURST_LOOP(loop_work, work)
BURST_LOOP(loop_spin, spin_work)

int main(void) {
  static const struct burst_variant variants[] = {{"work", loop_work}, {"spin", loop_spin}, {NULL, NULL}};
  return burst_main(variants);
}
