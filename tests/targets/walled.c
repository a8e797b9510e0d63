// SPDX-License-Identifier: MIT
// walled: no page is free that a jump from its code could reach.
#include <sys/mman.h>

#include "work.h"

// Fills what is free between two addresses.
static void fill(unsigned long from, unsigned long to) {
  if (from >= to) return;
  void* at = mmap((void*)from, to - from, PROT_NONE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  require(at == (void*)from, "mmap of a gap");
}

static unsigned long larger(unsigned long a, unsigned long b) { return a > b ? a : b; }
static unsigned long smaller(unsigned long a, unsigned long b) { return a < b ? a : b; }

int main(void) {
  const unsigned long reach = 0x81000000, code = (unsigned long)&main,
                      low = larger(code, reach + 65536) - reach, high = code + reach;
  static unsigned long begins[256], ends[256];
  char line[512];
  int count = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  while (count < 256 && fgets(line, sizeof line, maps))
    if (sscanf(line, "%lx-%lx", &begins[count], &ends[count]) == 2) count++;
  fclose(maps);
  unsigned long at = low & ~4095ul;
  for (int i = 0; i < count && at < high; i++) {
    fill(at, smaller(begins[i], high & ~4095ul));
    at = larger(at, ends[i]);
  }
  fill(at, high & ~4095ul);
  return serve_calls("walled");
}
