// SPDX-License-Identifier: MIT
// published FILE THREADS: each thread calls work(n) with n = 1, 2, 3 ... and publishes n in its word of FILE after the call: whatever
// kills the process, the file says how far each thread had come. The threads' ids go into FILE too, before their first call.
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "work.h"

enum { kThreads = 64, kBurst = 32 };

struct Progress {
  uint64_t tid;
  uint64_t done;
};

static struct Progress* progress;

static __attribute__((noreturn)) void* thread(void* number) {
  struct Progress* mine = &progress[(unsigned long)number];
  const struct timespec pause = {0, 2000000};
  __atomic_store_n(&mine->tid, (uint64_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
  for (uint64_t n = 1;; n++) {
    work(n, "published");
    __atomic_store_n(&mine->done, n, __ATOMIC_RELEASE);
    if (n % kBurst == 0) nanosleep(&pause, 0);
  }
}

int main(int argc, char** argv) {
  const unsigned long count = argc > 2 ? strtoul(argv[2], 0, 0) : 2;
  if (argc < 2 || count > kThreads) return 2;
  const int file = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || ftruncate(file, sizeof *progress * kThreads)) return 1;
  progress = mmap(0, sizeof *progress * kThreads, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (progress == MAP_FAILED) return 1;
  say("ready");
  if (!next_round()) return 0;
  for (unsigned long i = 0; i < count; i++) {
    pthread_t id;
    require(!pthread_create(&id, 0, thread, (void*)i), "pthread_create");
  }
  while (next_round()) say("done");
  return 0;
}
