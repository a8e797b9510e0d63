// SPDX-License-Identifier: MIT
// forged HOW: has memory of the names that blip gives to its own, with contents that are not blip's: zeros,
// random bytes, a header with wild counts, or one that describes sites all over the process.
#include <sys/mman.h>

#include "abi/layout.h"
#include "work.h"

namespace {

constexpr size_t kSize = 1 << 20;

unsigned char* map(const char* name) {
  const int fd = memfd_create(name, 0);
  require(fd >= 0 && !ftruncate(fd, kSize), "memfd_create");
  void* at = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  require(at != MAP_FAILED, "mmap");
  close(fd);
  return static_cast<unsigned char*>(at);
}

void randomize(unsigned char* at, unsigned seed) {
  for (size_t i = 0; i < kSize; i += sizeof seed) {
    seed = seed * 1103515245 + 12345;
    memcpy(at + i, &seed, sizeof seed);
  }
}

void forge(unsigned char* at, const char* how) {
  if (!strcmp(how, "zeros")) return;
  randomize(at, 7);
  if (!strcmp(how, "random")) return;
  auto* header = reinterpret_cast<blip::abi::DataHeader*>(at);
  header->magic = blip::abi::kMagic;
  header->version = blip::abi::kVersion;
  header->owner_pid = 0;
  if (!strcmp(how, "counts")) return;
  header->pad_file_count = 1;
  header->site_count = 1000;
  constexpr auto kSites = blip::abi::AreaId::kSites;
  blip::abi::Area& area = header->areas[static_cast<unsigned>(kSites)];
  area = {kSites, 0, 8192, header->site_count * sizeof(blip::abi::SiteEntry)};
  auto* sites = reinterpret_cast<blip::abi::SiteEntry*>(at + area.offset);
  for (unsigned i = 0; i < header->site_count; ++i) {
    sites[i].addr = reinterpret_cast<uint64_t>(at) + 512 * 1024 + i * 16;
    sites[i].size = sites[i].length = 5;
    memcpy(sites[i].changed, reinterpret_cast<void*>(sites[i].addr), 5);
  }
}

}  // namespace

int main(int argc, char** argv) {
  require(argc == 2, "usage: forged HOW");
  forge(map(blip::abi::kDataMemfdName), argv[1]);
  forge(map(blip::abi::kPadsMemfdName), argv[1]);
  say("ready");
  while (next_round()) {
    say("calls=1 sum=%lx", work(1, "forged"));
    say("done");
  }
  return 0;
}
