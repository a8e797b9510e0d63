// SPDX-License-Identifier: MIT
// The same work with LTTng-UST tracepoints compiled in: one event, and so one session or channel, per
// variant.
#include <stddef.h>

#include "burst.h"
#include "lttng_events.h"
#include "work.h"

#define WORK(name, ...)                                                           \
  __attribute__((noinline)) static int work_##name(int value, const char* text) { \
    (void)text;                                                                   \
    lttng_ust_tracepoint(blip_bench, __VA_ARGS__);                                \
    return value * 16777619;                                                      \
  }                                                                               \
  BURST_LOOP(loop_##name, work_##name)

WORK(int, work, value)
WORK(context, work_context, value)
WORK(snapshot, work_snapshot, value)
WORK(string, work_string, value, text)

__attribute__((noinline)) static int work_spin(int value, const char* text) {
  lttng_ust_tracepoint(blip_bench, work, value);
  return spin_work(value, text);
}
BURST_LOOP(loop_spin, work_spin)

int main(void) {
  static const struct burst_variant variants[] = {
      {"work", loop_int},      {"context", loop_context}, {"snapshot", loop_snapshot},
      {"string", loop_string}, {"spin", loop_spin},       {NULL, NULL},
  };
  return burst_main(variants);
}
