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

}  // namespace blip
