// SPDX-License-Identifier: MIT
// looks_around: a thread looks all the time at what the process consists of, in every way there is. A round
// closes every descriptor above stderr that it can find: there must be none but its own.
#include <dirent.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "work.h"

static volatile int stop;

static void read_all(const char* path) {
  static char block[1 << 16];
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  require(fd >= 0, path);
  while (read(fd, block, sizeof block) > 0) continue;
  close(fd);
}

static int one_object(struct dl_phdr_info* info, size_t size, void* count) {
  (void)size;
  require(info->dlpi_phnum > 0, "dl_iterate_phdr");
  ++*(int*)count;
  return 0;
}

static void* looks(void* unused) {
  static unsigned char resident[16];
  while (!stop) {
    int objects = 0;
    read_all("/proc/self/maps");
    read_all("/proc/self/smaps");
    read_all("/proc/self/status");
    require(!dl_iterate_phdr(one_object, &objects) && objects >= 3, "dl_iterate_phdr");
    require(!mincore((void*)((unsigned long)one_object & ~4095ul), 4096, resident), "mincore");
    usleep(1000);
  }
  return unused;
}

// Names of descriptors other than 0 to 2 and the directory's own.
static int count_descriptors(void) {
  DIR* directory = opendir("/proc/self/fd");
  int count = 0;
  for (struct dirent* entry; (entry = readdir(directory));)
    if (*entry->d_name != '.' && atoi(entry->d_name) > 2 && atoi(entry->d_name) != dirfd(directory)) count++;
  closedir(directory);
  return count;
}

int main(void) {
  pthread_t thread;
  require(!syscall(SYS_close_range, 3, ~0u, 0), "close_range");
  say("ready");
  while (next_round()) {
    require(count_descriptors() == 0, "a descriptor of somebody else's");
    require(!syscall(SYS_close_range, 3, ~0u, 0), "close_range");
    stop = 0;
    require(!pthread_create(&thread, 0, looks, 0), "pthread_create");
    for (int i = 0; i < 50; i++) {
      work((unsigned long)i, "looks");
      usleep(1000);
    }
    stop = 1;
    pthread_join(thread, 0);
    say("calls=50");
    say("done");
  }
  return 0;
}
