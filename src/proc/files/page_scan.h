// SPDX-License-Identifier: MIT
// PAGEMAP_SCAN (Linux 6.7): Documentation/admin-guide/mm/pagemap.rst; the headers of older systems lack it.
#pragma once

#include <sys/ioctl.h>

#include <cstdint>

namespace blip::proc {

struct PageRegion {
  uint64_t start, end, categories;
};
struct ScanArgument {
  uint64_t size, flags, start, end, walk_end, regions, region_count, max_pages;
  uint64_t inverted, all_of, any_of, wanted;
};
inline constexpr unsigned long kPagemapScan = _IOWR('f', 16, ScanArgument);
inline constexpr uint64_t kIsPresent = 1 << 3;
inline constexpr uint64_t kIsSwapped = 1 << 4;
inline constexpr uint64_t kIsGuard = 1 << 8;

}  // namespace blip::proc
