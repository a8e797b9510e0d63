// SPDX-License-Identifier: MIT
#pragma once

#include <malloc.h>

namespace blip {

// Frees what a container holds, its capacity too, which `c = {}` may keep.
template <typename Container>
void free_contents(Container& container) {
  Container().swap(container);
}

// After a lot was freed: the allocator would keep it for later.
inline void give_back_memory() { ::malloc_trim(0); }

// From now on each large block is a mapping of its own, which is gone when it is freed. By itself the allocator
// puts more and more of them on its heap, where small blocks keep their memory from being given back.
inline void map_large_blocks() {
  constexpr int kLarge = 256 << 10, kMostKept = 1 << 20;
  ::mallopt(M_MMAP_THRESHOLD, kLarge);
  ::mallopt(M_TRIM_THRESHOLD, kMostKept);
}

}  // namespace blip
