// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/addr.h"
#include "base/page.h"
#include "base/result.h"

namespace blip::proc {

// One line of /proc/PID/maps.
struct Map {
  AddrRange range;
  bool read = false;
  bool write = false;
  bool exec = false;
  bool shared = false;
  uint64_t offset = 0;
  uint64_t dev = 0;  // as makedev(3)
  uint64_t inode = 0;
  std::string path;  // without " (deleted)"; newlines unescaped; "[stack]", "" for anonymous memory
  bool deleted = false;

  bool file_backed() const { return inode != 0; }
};

// Sorted by address. Works for a process whose leader has exited. Fails with kGone when it has ended.
Result<std::vector<Map>> read_maps(pid_t pid);
Result<std::vector<Map>> parse_maps(std::string_view text);

// The mapping that contains the address, or null.
const Map* find_map(std::span<const Map> maps, TargetAddr addr);

// Everything that is not mapped, in whole pages, keeping clear of what the target will want later: room for
// the heap and the stacks to grow, and addresses it cannot map. Maps must be sorted.
std::vector<AddrRange> free_ranges(std::span<const Map> maps);

// The page-aligned free range of `size` bytes inside `window` nearest to its middle, of free_ranges(maps).
std::optional<TargetAddr> find_gap(std::span<const Map> maps, uint64_t size, AddrRange window);

// The number of mappings that the kernel allows a process.
size_t max_map_count();

}  // namespace blip::proc
