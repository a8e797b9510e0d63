// SPDX-License-Identifier: MIT
// The same work with an LTTng-UST tracepoint of one int compiled in.
#include <stddef.h>

#include "burst.h"
#include "lttng_events.h"

__attribute__((noinline)) static int work_lttng(int value, const char* text) {
  (void)text;
  lttng_ust_tracepoint(blip_bench, work, value);
  return value * 16777619;
}

BURST_LOOP(loop_work, work_lttng)

int main(void) {
  static const struct burst_variant variants[] = {{"work", loop_work}, {NULL, NULL}};
  return burst_main(variants);
}
