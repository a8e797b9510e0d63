// SPDX-License-Identifier: MIT
// shifting THREADS MILLISECONDS LIBRARY: for so long in a round, threads call seen() with pointers to memory
// that stays, that is theirs for the call, that cannot be read, and that others map, unmap, protect and move
// meanwhile; a thread loads and unloads a library, another forks children that call it too. What seen() is
// told:
//   n  the number of the call; the item, if it can be read, says n * 7 and "item n"
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include "target.h"

enum { THERE, GONE, WHO_KNOWS };
enum { PAGE = 4096, SLOTS = 64, LARGE = 300 << 10 };

struct item {
  unsigned long value;
  const char* text;
  const struct item* inner;
  char words[24];
};

PROBED unsigned long seen(const struct item* p, unsigned long n, int what) {
  asm volatile("" : : "r"(p), "r"(what) : "memory");
  return n * 3;
}

static _Atomic(struct item*) slots[SLOTS];
static atomic_ulong* calls;  // shared with children
static atomic_int stop;
static unsigned long until;  // ms
static const char* library;

static unsigned long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (unsigned long)t.tv_sec * 1000 + (unsigned long)t.tv_nsec / 1000000;
}

// Half of the time memory stays as it is, so that blip finds a moment to look; then all change it at once.
static int may_change(void) { return now() % 24 < 12; }

static unsigned next(unsigned* seed) { return (*seed = *seed * 1103515245 + 12345) >> 8; }

static void call(const struct item* p, unsigned long n, int what) {
  atomic_fetch_add(calls, 1);
  require(seen(p, n, what) == n * 3, "an answer");
}

static struct item* fill(void* at, unsigned long n) {
  struct item* p = at;
  p->value = n * 7;
  p->text = p->words;
  p->inner = p;
  snprintf(p->words, sizeof p->words, "item %lu", n);
  return p;
}

static void* map(size_t size) {
  void* p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  require(p != MAP_FAILED, "mmap");
  return p;
}

static void call_with_new_mapping(unsigned long n) {
  char* p = map(2 * PAGE);
  call(fill(p + PAGE - sizeof(struct item) / 2 / 8 * 8, n), n, THERE);
  p = mremap(p, 2 * PAGE, 4 * PAGE, MREMAP_MAYMOVE);
  require(p != MAP_FAILED, "mremap");
  call(fill(p + 3 * PAGE, n), n, THERE);
  require(!madvise(p, 4 * PAGE, MADV_DONTNEED), "madvise");
  call(fill(p + 4 * PAGE - sizeof(struct item), n), n, THERE);
  munmap(p, 4 * PAGE);
}

static void call_with_protected(char* own, unsigned long n) {
  fill(own, n);
  mprotect(own, PAGE, PROT_NONE);
  call((struct item*)own, n, GONE);
  mprotect(own, PAGE, PROT_READ | PROT_WRITE);
  call(fill(own, n), n, THERE);
}

static void call_with_file(int fd, char* mapped, unsigned long n) {
  require(!ftruncate(fd, 0), "ftruncate");
  call((struct item*)mapped, n, GONE);
  require(!ftruncate(fd, PAGE), "ftruncate");
  call(fill(mapped, n), n, THERE);
}

static void call_with_heap(unsigned long n) {
  char* p = malloc(LARGE);
  call(fill(p + LARGE - sizeof(struct item), n), n, THERE);
  free(p);
}

static void* caller(void* seed_of) {
  unsigned seed = (unsigned)(uintptr_t)seed_of;
  char* own = map(PAGE);
  int fd = memfd_create("shifting", 0);
  require(fd >= 0 && !ftruncate(fd, PAGE), "a file");
  char* mapped = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  call_with_new_mapping(1);
  call_with_protected(own, 2);
  call_with_file(fd, mapped, 3);
  for (unsigned long n = 4; n < 60 || now() < until; n++) {
    struct item on_stack;
    call(fill(&on_stack, n), n, THERE);
    call(slots[next(&seed) % SLOTS], n, WHO_KNOWS);
    if (n % 8 == 0) usleep(100);
    if (!may_change()) continue;
    switch (next(&seed) % 4) {
      case 0:
        call_with_new_mapping(n);
        break;
      case 1:
        call_with_protected(own, n);
        break;
      case 2:
        call_with_file(fd, mapped, n);
        break;
      default:
        call_with_heap(n);
    }
  }
  munmap(mapped, PAGE);
  close(fd);
  munmap(own, PAGE);
  return NULL;
}

static void* changer(void* seed_of) {
  unsigned seed = (unsigned)(uintptr_t)seed_of;
  while (!stop) {
    if (!may_change()) usleep(500);
    unsigned i = next(&seed) % SLOTS;
    if (!may_change()) continue;
    struct item* old = atomic_exchange(&slots[i], NULL);  // nobody else changes it now
    if (!old) continue;
    if (next(&seed) % 3 == 0) mprotect(old, PAGE, PROT_NONE);
    if (next(&seed) % 3 == 0) old = mremap(old, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, map(PAGE));
    if (next(&seed) % 2 == 0) madvise(old, PAGE, MADV_DONTNEED);  // then a read is a page fault
    slots[i] = old;  // others may find it; what they read is the kernel's or the pad's business
    old = atomic_exchange(&slots[i], NULL);
    if (old) munmap(old, PAGE), slots[i] = fill(map(PAGE), i);
  }
  return NULL;
}

static void* loader(void* unused) {
  while (!stop) {
    while (!may_change() && !stop) usleep(500);
    void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    require(handle != NULL, "dlopen");
    dlclose(handle);
    pid_t child = fork();
    if (child == 0) {
      static struct item item;
      for (unsigned long n = 1; n <= 5; n++) call(fill(&item, n), n, THERE);
      _exit(0);
    }
    int status = -1;
    require(waitpid(child, &status, 0) == child && status == 0, "a child");
  }
  return unused;
}

static void round_of(unsigned count, unsigned milliseconds) {
  pthread_t threads[16], others[3];
  stop = 0;
  until = now() + milliseconds;
  for (unsigned i = 0; i < SLOTS; i++) slots[i] = fill(map(PAGE), i);
  for (uintptr_t i = 0; i < 2; i++) pthread_create(&others[i], NULL, changer, (void*)(i + 100));
  pthread_create(&others[2], NULL, loader, NULL);
  for (uintptr_t i = 0; i < count; i++) pthread_create(&threads[i], NULL, caller, (void*)(i + 1));
  for (unsigned long n = 1; now() < until; n++)
    may_change() ? call_with_heap(n) : (void)usleep(500);  // of this thread it is what brk moves
  for (unsigned i = 0; i < count; i++) pthread_join(threads[i], NULL);
  stop = 1;
  for (unsigned i = 0; i < 3; i++) pthread_join(others[i], NULL);
  for (unsigned i = 0; i < SLOTS; i++) munmap(slots[i], PAGE);
}

int main(int argc, char** argv) {
  unsigned count = argc > 1 ? (unsigned)atoi(argv[1]) : 2;
  unsigned milliseconds = argc > 2 ? (unsigned)atoi(argv[2]) : 100;
  library = argv[3];
  calls = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 64 << 10);
  round_of(1, 1);  // libc's handlers and arenas are there from now on
  say("ready");
  while (next_round()) {
    atomic_store(calls, 0);
    round_of(count, milliseconds);
    say("info calls=%lu", atomic_load(calls));
    say("done");
  }
  return 0;
}
