// SPDX-License-Identifier: MIT
// far_libs [N]: N calls each of work() here and of two libraries, all of them more than 2 GiB apart.
#include <dlfcn.h>
#include <sys/mman.h>

#include "work.h"

typedef unsigned long Work(unsigned long i, const char* s);

static Work* load(const char* file, const char* name) {
  void* library = dlopen(file, RTLD_NOW);
  if (!library) say("%s", dlerror());
  require(library != 0, "dlopen");
  return (Work*)dlsym(library, name);
}

static int far_apart(Work* a, Work* b) {
  const unsigned long x = (unsigned long)a, y = (unsigned long)b;
  return (x < y ? y - x : x - y) > 1ul << 31;
}

int main(int argc, char** argv) {
  unsigned long n = argc > 1 ? strtoul(argv[1], 0, 0) : 1000, sum = 0;
  Work* one = load("libfar_one.so", "far_one");
  // Addresses are given out downwards: the next library comes below this hole.
  require(mmap(0, 5ul << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED,
          "mmap");
  Work* two = load("libfar_two.so", "far_two");
  require(far_apart(one, two) && far_apart(one, work) && far_apart(two, work),
          "the libraries are not far apart");
  say("info pid=%d one=%#lx two=%#lx", getpid(), (unsigned long)one, (unsigned long)two);
  say("ready");
  while (next_round()) {
    for (unsigned long i = 0; i < n; i++) sum = sum * 3 + work(i, "a") + one(i, "bc") + two(i, "def");
    say("calls=%lu checksum=%lx", 3 * n, sum);
    say("done");
  }
  return 0;
}
