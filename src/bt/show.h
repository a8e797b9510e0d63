// SPDX-License-Identifier: MIT
// From what handlers hand over and maps hold to what is shown of it.
#pragma once

#include <span>

#include "bt/config.h"
#include "bt/shapes.h"
#include "bt/shown.h"
#include "script/blocks/library.h"
#include "script/blocks/world.h"
#include "state/map.h"

namespace blip::bt {

struct Shower {
  script::World& world;
  const Config& config;

  // The leaves of a value; numbers are divided by `divisor`.
  Shown value(const Type& type, std::span<const script::Argument> leaves, uint64_t divisor = 1) const;
  // All of a map in the order of bpftrace, the last `top` entries of it; 0: all.
  // `shows_unset`: a map of one value that has none is shown as 0.
  ShownMap map(const MapShape& shape, const state::Map& map, uint64_t top, uint64_t divisor,
               bool shows_unset) const;
  // One entry; none: it is not there.
  ShownMap entry(const MapShape& shape, const state::Map& map, std::span<const script::Argument> key) const;

 private:
  std::string stack(const Type& type, uint64_t pid, uint64_t number) const;
  ShownEntry of_stats(const MapShape& shape, const state::MapType& type, const state::Stats& stats,
                      uint64_t divisor) const;
};

std::string symbol_name(script::World& world, uint64_t pid, uint64_t address, bool has_offset);
std::string user_name(uint64_t uid);
std::string format_time(uint64_t nanoseconds, const std::string& format);

}  // namespace blip::bt
