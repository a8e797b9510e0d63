// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "abi/unwind.h"
#include "unwind/rule_numbers.h"
#include "unwind/table.h"

namespace blip::unwind {

// Collects the rows of one segment. Addresses come in ascending order.
class Rows {
 public:
  // code.size() has 32 bits.
  explicit Rows(FileRange code);

  // From `address` on, up to the next one that is told of.
  void from(FileAddr address, const abi::UnwindRule& rule);
  // Forgets the rows of [address, ...).
  void cut(FileAddr address);

  SegmentTable finish();

 private:
  struct Row {
    uint32_t offset;
    uint32_t rule;
  };

  FileRange code_;
  std::vector<Row> rows_;
  RuleNumbers rules_;
};

}  // namespace blip::unwind
