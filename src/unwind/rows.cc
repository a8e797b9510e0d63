// SPDX-License-Identifier: MIT
#include "unwind/rows.h"

#include "base/check.h"

namespace blip::unwind {

Rows::Rows(FileRange code) : code_(code), rows_{{0, RuleNumbers::kUnknown}} {
  CHECK(code.size() <= UINT32_MAX);
}

void Rows::from(FileAddr address, const abi::UnwindRule& rule) {
  CHECK(code_.contains(address));
  const auto offset = static_cast<uint32_t>(address - code_.begin);
  CHECK(offset >= rows_.back().offset);
  if (offset == rows_.back().offset && offset != 0) rows_.pop_back();
  const uint32_t number = rules_.of(rule);
  if (offset == 0)
    rows_.back().rule = number;
  else if (rows_.back().rule != number)
    rows_.push_back({offset, number});
}

void Rows::cut(FileAddr address) {
  while (rows_.size() > 1 && code_.begin + rows_.back().offset >= address) rows_.pop_back();
}

SegmentTable Rows::finish() {
  SegmentTable table{.code = code_, .index = {}, .rows = {}, .rules = rules_.rules()};
  const uint64_t blocks = (code_.size() + abi::kUnwindBlock - 1) >> abi::kUnwindBlockShift;
  size_t row = 0;
  for (uint64_t block = 0; block <= blocks; ++block) {
    while (row + 1 < rows_.size() && rows_[row + 1].offset <= block << abi::kUnwindBlockShift) ++row;
    table.index.push_back(static_cast<uint32_t>(row));
  }
  for (const Row& r : rows_)
    table.rows.push_back((r.offset & ((1u << abi::kUnwindRuleShift) - 1)) | r.rule << abi::kUnwindRuleShift);
  return table;
}

}  // namespace blip::unwind
