// SPDX-License-Identifier: MIT
// The program kernel uprobes and gdb's tracepoints are measured on, and blip beside them.
#include <stddef.h>

#include "burst.h"
#include "work.h"

BURST_LOOP(loop_mov, entry_mov)
BURST_LOOP(loop_push, entry_push)
BURST_LOOP(loop_nop5, entry_nop5)
BURST_LOOP(loop_nop5_too, entry_nop5_too)
BURST_LOOP(loop_spin_push, spin_push)
BURST_LOOP(loop_spin_nop5, spin_nop5)

volatile long entry_global = 42;  // eight bytes for a tracepoint to collect

int main(void) {
  static const struct burst_variant variants[] = {
      {"mov", loop_mov},
      {"push", loop_push},
      {"nop5", loop_nop5},
      {"nop5_too", loop_nop5_too},
      {"spin_push", loop_spin_push},
      {"spin_nop5", loop_spin_nop5},
      {NULL, NULL},
  };
  return burst_main(variants);
}
