// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <vector>

#include "base/check.h"
#include "unwind/arena.h"
#include "unwind/find_rule.h"
#include "unwind/table.h"

namespace blip::unwind {

// Tables in memory of this process, as a target would have them.
struct TestTables {
  std::vector<uint64_t> memory;
  std::unique_ptr<TableArena> arena;
  std::vector<LoadedSegment> segments;

  explicit TestTables(uint64_t size) : memory(size / 8) {
    arena = std::make_unique<TableArena>(bytes(), TargetAddr(0));
  }
  std::span<uint8_t> bytes() { return {reinterpret_cast<uint8_t*>(memory.data()), memory.size() * 8}; }
  const uint8_t* header() { return bytes().data(); }

  void add(const std::vector<SegmentTable>& tables, uint64_t bias) {
    for (const SegmentTable& table : tables) segments.push_back({arena->add(table).value(), bias});
    CHECK(arena->publish(segments).has_value());
  }
};

}  // namespace blip::unwind
