// SPDX-License-Identifier: MIT
// Measures what a probe hit can cost at best on this machine: hand-written pads without gate, bounds or
// sub-buffers, reached by a jump from the function's entry as a patched function would. See floor_pads.S.
#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/rseq.h>
#include <unistd.h>

#include "burst.h"

enum { kMaxCpus = 1024, kRingSize = 4 << 20 };  // as large as blip's default ring

// One cache line per CPU; floor_pads.S knows the offsets.
struct ring {
  uint64_t pos;
  uint64_t mask;
  char* data;
  uint64_t count;
  uint64_t pad[4];
};
_Static_assert(sizeof(struct ring) == 64, "the pads shift the cpu number by 6");

__attribute__((aligned(64))) struct ring floor_rings[kMaxCpus];
int64_t floor_rseq_offset;

int floor_plain(int value, const char* text);
int floor_rdtsc(int value, const char* text);
int floor_rdtsc_twice(int value, const char* text);
int floor_jump(int value, const char* text);
int floor_rseq_event(int value, const char* text);
int floor_rseq_count(int value, const char* text);
int floor_locked_event(int value, const char* text);

BURST_LOOP(loop_plain, floor_plain)
BURST_LOOP(loop_rdtsc, floor_rdtsc)
BURST_LOOP(loop_rdtsc_twice, floor_rdtsc_twice)
BURST_LOOP(loop_jump, floor_jump)
BURST_LOOP(loop_rseq_event, floor_rseq_event)
BURST_LOOP(loop_rseq_count, floor_rseq_count)
BURST_LOOP(loop_locked_event, floor_locked_event)

int main(void) {
  if (__rseq_size == 0) {
    fprintf(stderr, "floor: this thread has no registered rseq area (glibc 2.35 or newer is needed)\n");
    return 1;
  }
  floor_rseq_offset = __rseq_offset;
  for (long cpu = 0; cpu < sysconf(_SC_NPROCESSORS_CONF) && cpu < kMaxCpus; cpu++) {
    void* data =
        mmap(NULL, kRingSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (data == MAP_FAILED) return 1;
    floor_rings[cpu] = (struct ring){.mask = kRingSize - 1, .data = data};
  }
  static const struct burst_variant variants[] = {
      {"plain", loop_plain},
      {"rdtsc", loop_rdtsc},
      {"rdtsc_twice", loop_rdtsc_twice},
      {"jump", loop_jump},
      {"rseq_event", loop_rseq_event},
      {"rseq_count", loop_rseq_count},
      {"locked_event", loop_locked_event},
      {NULL, NULL},
  };
  return burst_main(variants);
}
