// SPDX-License-Identifier: MIT
#include "probe/inject/readable_memory.h"

#include <algorithm>

#include "base/page.h"

namespace blip::probe {

namespace {

constexpr char kHeap[] = "[heap]";

// Not the kernel's own: [vvar] has pages that are a SIGBUS to read.
bool is_anonymous(const proc::Map& map) {
  return !map.file_backed() && (map.path.empty() || map.path == kHeap || map.path.starts_with("[stack") ||
                                map.path.starts_with("[anon:"));
}

// Pages behind the end of a file are a SIGBUS.
uint64_t backed_bytes(const proc::Map& map, const Module& module) {
  const uint64_t end = (module.file().size() + kPageSize - 1) / kPageSize * kPageSize;
  return map.offset < end ? end - map.offset : 0;
}

}  // namespace

ReadableMemory readable_memory(std::span<const proc::Map> maps, std::span<const Module> modules) {
  ReadableMemory memory;
  for (const proc::Map& map : maps) {
    if (map.path == kHeap) memory.heap_end = map.range.end;
    if (!map.read || map.shared) continue;
    AddrRange range = map.range;
    if (!is_anonymous(map)) {
      const auto module = std::find_if(modules.begin(), modules.end(), [&](const Module& m) {
        return map.file_backed() && m.extent().contains(map.range.begin) && m.path() == map.path;
      });
      if (module == modules.end()) continue;
      range.end = std::min(range.end, range.begin + backed_bytes(map, *module));
    }
    if (!range.empty()) memory.ranges.push_back(range);
  }
  return memory;
}

std::vector<AddrRange> without(std::span<const AddrRange> ranges, std::span<const AddrRange> holes) {
  std::vector<AddrRange> left;
  for (AddrRange range : ranges) {
    for (const AddrRange& hole : holes) {
      if (!hole.overlaps(range)) continue;
      if (range.begin < hole.begin) left.push_back({range.begin, hole.begin});
      range.begin = std::min(hole.end, range.end);
    }
    if (!range.empty()) left.push_back(range);
  }
  return left;
}

}  // namespace blip::probe
