// SPDX-License-Identifier: MIT
// Tables of everything that is loaded in this process, and walks up its own stack.
#pragma once

#include <execinfo.h>
#include <link.h>
#include <pthread.h>
#include <sys/auxv.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "base/check.h"
#include "unwind/stacks.h"
#include "unwind/test_tables.h"
#include "unwind/walk.h"

namespace blip::unwind {

inline std::string path_of_loaded(const dl_phdr_info& info) {
  return info.dlpi_name[0] == '\0' ? "/proc/self/exe" : info.dlpi_name;
}

// The vDSO has no file.
inline TestTables& own_tables() {
  static TestTables tables = [] {
    constexpr uint64_t kSize = 64 << 20;
    TestTables made(kSize);
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* out) {
          auto file = elf::ElfFile::open(path_of_loaded(*info));
          if (file) static_cast<TestTables*>(out)->add(make_tables(*file), info->dlpi_addr);
          return 0;
        },
        &made);
    return made;
  }();
  return tables;
}

// The stack of the calling thread.
inline StackWindow own_window() {
  pthread_attr_t attributes;
  CHECK(pthread_getattr_np(pthread_self(), &attributes) == 0);
  void* low = nullptr;
  size_t size = 0;
  pthread_attr_getstack(&attributes, &low, &size);
  pthread_attr_destroy(&attributes);
  return {reinterpret_cast<uint64_t>(low), reinterpret_cast<uint64_t>(low) + size};
}

// Also for signal handlers: no memory is allocated.
struct Frames {
  static constexpr size_t kMost = 512;
  uint64_t at[kMost];
  size_t count = 0;

  void add(uint64_t frame) {
    if (count < kMost) at[count++] = frame;
  }
  uint64_t last() const { return at[count - 1]; }
  std::vector<uint64_t> from(size_t first) const { return {at + first, at + count}; }
};

struct Walked {
  Frames frames;
  abi::UnwindEnd end{};
};

template <typename Reader>
Walked walk_from(const Registers& registers, const Reader& reader, uint32_t depth = abi::kMaxStackDepth,
                 bool at_entry = false) {
  Walked walked;
  walked.end = walk(own_tables().header(), registers, at_entry, depth, reader,
                    [&](uint64_t frame) { walked.frames.add(frame & ~abi::kInterrupted); });
  return walked;
}

// Declares the registers of the function in which it stands.
#define BLIP_OWN_REGISTERS(name)                                       \
  ::blip::unwind::Registers name{};                                    \
  asm volatile("leaq 0(%%rip), %0\n\tmovq %%rsp, %1\n\tmovq %%rbp, %2" \
               : "=&r"(name.rip), "=&r"(name.rsp), "=&r"(name.rbp))

// One stack walked twice: by glibc and by blip. The first frame is the caller's own.
struct Pair {
  Frames theirs;
  Walked ours;

  // If blip's walk ends for a good reason, the rest does not count.
  bool agree() const {
    const Frames& mine = ours.frames;
    const bool whole = ours.end == abi::UnwindEnd::kOutermost;
    if (mine.count > theirs.count || mine.count == 0 || (whole && mine.count != theirs.count)) return false;
    return std::equal(mine.at + 1, mine.at + mine.count, theirs.at + 1);
  }
};

template <typename Reader>
[[gnu::noinline]] void both_ways(const Reader& reader, Pair& pair) {
  void* theirs[Frames::kMost];
  const int count = backtrace(theirs, Frames::kMost);
  int own = 0;  // asan's backtrace() counts itself too
  while (own + 1 < count && theirs[own + 1] != __builtin_return_address(0)) ++own;
  pair.theirs.count = 0;
  for (int i = own; i < count; ++i) pair.theirs.add(reinterpret_cast<uint64_t>(theirs[i]));
  BLIP_OWN_REGISTERS(registers);
  pair.ours = walk_from(registers, reader, Frames::kMost);
}

}  // namespace blip::unwind
