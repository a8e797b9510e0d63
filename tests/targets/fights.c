// SPDX-License-Identifier: MIT
// fights HOW: its first round does something to the memory that blip has put into it, its second one calls
// work() and looks whether what it has put there itself is still there.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "work.h"

enum { kMost = 64 };
struct Map {
  char* begin;
  size_t size;
};
static struct Map found[kMost];
static int count;
static unsigned char work_before[64];

static void find(const char* name) {
  char line[512];
  unsigned long begin, end;
  FILE* maps = fopen("/proc/self/maps", "r");
  count = 0;
  while (count < kMost && fgets(line, sizeof line, maps))
    if (strstr(line, name) && sscanf(line, "%lx-%lx", &begin, &end) == 2)
      found[count++] = (struct Map){(char*)begin, end - begin};
  fclose(maps);
}

static void unmap(struct Map m) { require(!munmap(m.begin, m.size), "munmap"); }
static void hide(struct Map m) { require(!mprotect(m.begin, m.size, PROT_NONE), "mprotect"); }
static void cover(struct Map m) {
  void* at = mmap(m.begin, m.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  require(at == m.begin, "mmap");
  memset(m.begin, 0x5a, m.size);
}
static void move(struct Map m) {
  require(mremap(m.begin, m.size, m.size, MREMAP_MAYMOVE | MREMAP_FIXED,
                 (char*)0x100000000 + count * (1l << 30)) != MAP_FAILED,
          "mremap");
}
static void scribble(struct Map m) {
  unsigned seed = 1;
  for (size_t i = 0; i < m.size; i += 4) *(unsigned*)(m.begin + i) = seed = seed * 1103515245 + 12345;
}

// Everything that could make the memory shorter or take pages out of it: what the seals forbid fails, and
// what they do not forbid must not hurt blip.
static void tamper(struct Map m) {
  char path[128];
  snprintf(path, sizeof path, "/proc/self/map_files/%lx-%lx", (long)m.begin, (long)m.begin + (long)m.size);
  (void)!madvise(m.begin, m.size, MADV_REMOVE);
  int fd = open(path, O_RDWR);
  if (fd < 0) return;  // only root may
  require(ftruncate(fd, 0) < 0 && ftruncate(fd, 1l << 30) < 0, "its size could be changed");
  (void)!fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (long)m.size);
  require(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE) < 0, "it could be sealed");
  close(fd);
}

// The code of work() as it was, written over blip's jump.
static void restore(void) {
  int fd = open("/proc/self/mem", O_RDWR);
  require(pwrite(fd, work_before, sizeof work_before, (long)work) == sizeof work_before, "pwrite");
  close(fd);
}

static const struct {
  const char *how, *what;
  void (*act)(struct Map);
} kWays[] = {{"unmap-pads", "blip-pads", unmap},       {"cover-pads", "blip-pads", cover},
             {"hide-pads", "blip-pads", hide},         {"move-pads", "blip-pads", move},
             {"unmap-data", "blip-data", unmap},       {"cover-data", "blip-data", cover},
             {"hide-data", "blip-data", hide},         {"move-data", "blip-data", move},
             {"scribble-data", "blip-data", scribble}, {"tamper-data", "blip-data", tamper},
             {"tamper-pads", "blip-pads", tamper}};

static void fight(const char* how) {
  if (!strcmp(how, "restore")) return restore();
  for (size_t i = 0; i < sizeof kWays / sizeof kWays[0]; i++) {
    if (strcmp(how, kWays[i].how)) continue;
    find(kWays[i].what);
    require(count > 0, "nothing of blip is here");
    for (int k = 0; k < count; k++) kWays[i].act(found[k]);
  }
}

static int intact(struct Map m) {
  for (size_t i = 0; i < m.size; i++)
    if (m.begin[i] != 0x5a) return 0;
  return 1;
}

int main(int argc, char** argv) {
  require(argc == 2, "usage: fights HOW");
  memcpy(work_before, (const void*)work, sizeof work_before);
  unsigned long expected = work(1, "fights");
  say("ready");
  if (!next_round()) return 0;
  fight(argv[1]);
  say("done");
  while (next_round()) {
    for (int k = 0; !strncmp(argv[1], "cover", 5) && k < count; k++)
      require(intact(found[k]), "what was put over blip's memory has changed");
    require(work(1, "fights") == expected, "the sum");
    say("calls=1");
    say("done");
  }
  return 0;
}
