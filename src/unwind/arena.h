// SPDX-License-Identifier: MIT
// The memory with the unwind tables, as blip writes it and the target reads it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "abi/unwind.h"
#include "base/addr.h"
#include "base/result.h"
#include "unwind/rule_numbers.h"
#include "unwind/table.h"

namespace blip::unwind {

// A table that lies in the arena.
struct PlacedTable {
  FileRange code;
  uint32_t index_offset = 0, rows_offset = 0;
};

// A segment in the target's memory and its table.
struct LoadedSegment {
  PlacedTable table;
  uint64_t bias = 0;  // what was added to the file's addresses
};

// Only ever adds: threads of the target may be reading. Tables of a file serve all processes that have it
// loaded, wherever.
class TableArena {
 public:
  static constexpr uint64_t kMinimum =
      sizeof(abi::UnwindHeader) + abi::kMaxUnwindRules * sizeof(abi::UnwindRule) + 64;

  // `memory` is aligned, filled with zeroes, has kMinimum bytes and more, and outlives this; the target needs
  // no more than to read it.
  // `stacks` is where the StackTable will be in the target. How words are read is in header().
  TableArena(std::span<uint8_t> memory, TargetAddr stacks);
  abi::UnwindHeader& header() { return *reinterpret_cast<abi::UnwindHeader*>(memory_.data()); }

  // kUnsupported: it does not fit.
  Result<PlacedTable> add(const SegmentTable& table);
  // From now on these are the modules, in whatever order; of two that overlap the first counts.
  Status publish(const std::vector<LoadedSegment>& segments);

  uint64_t used() const { return used_; }

 private:
  Result<uint32_t> put(const void* bytes, uint64_t size);

  std::span<uint8_t> memory_;
  uint64_t used_ = 0;
  uint32_t generation_ = 0;
  RuleNumbers rules_;
};

// The bytes that an arena needs for these tables, with room for the lists of modules that so many changes
// make.
uint64_t arena_size(std::span<const SegmentTable> tables, uint32_t changes);

// The table of code that follows one rule everywhere: blip's own.
SegmentTable uniform_table(uint64_t size, abi::UnwindRule::Base base);

}  // namespace blip::unwind
