// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <vector>

#include "base/addr.h"
#include "base/result.h"

namespace blip::proc {

struct PresentPages {
  std::vector<AddrRange> runs;  // sorted; in memory, or in swap
  uint64_t size = 0;
  bool complete = true;  // false: there is more than was asked for, or the kernel cannot tell in time
};

// Finds the pages of these mappings that are present, without touching a page: sanitizers map terabytes and
// use little of them. Ends the search once `most` bytes are found.
Result<PresentPages> present_pages(pid_t pid, std::span<const AddrRange> mappings, uint64_t most);

}  // namespace blip::proc
