// SPDX-License-Identifier: MIT
// many_maps N: has so many mappings that the kernel allows it N more.
#include <sys/mman.h>

#include "work.h"

enum { kPage = 4096, kMost = 4 << 20 };

int main(int argc, char** argv) {
  require(argc == 2, "usage: many_maps N");
  char* area = mmap(0, (size_t)kMost * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  require(area != MAP_FAILED, "mmap");
  long i = 1;  // every second page is another mapping, and so is what lies between
  while (i < kMost && !mprotect(area + i * kPage, kPage, PROT_READ)) i += 2;
  require(i < kMost && errno == ENOMEM, "the kernel allows too many mappings");
  for (long left = atol(argv[1]); left > 0; left -= 2) {
    i -= 2;
    require(!mprotect(area + i * kPage, kPage, PROT_NONE), "mprotect");
  }
  return serve_calls("maps");
}
