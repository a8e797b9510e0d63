// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "abi/layout.h"
#include "unwind/stacks.h"

namespace blip::session {

// The stacks of a process as events show them, each looked up once.
class StackCache {
 public:
  struct Entry {
    std::vector<uint64_t> frames;  // the hit's own first
    uint64_t info = 0;             // ctf::StackInfo
  };

  // `region` is blip's mapping of the data region, and outlives this.
  StackCache(const abi::Geometry& geometry, const uint8_t* region);

  // Good until the next call.
  const Entry& of(uint32_t id);
  // Hits whose stack had no room.
  uint64_t refused() const { return table_.refused(); }

 private:
  unwind::StackTableReader table_;
  std::unordered_map<uint32_t, Entry> known_;
  Entry none_;
};

}  // namespace blip::session
