// SPDX-License-Identifier: MIT
#include "unwind/rows.h"

#include "base/check.h"

namespace blip::unwind {

namespace {

// The first two rules of every table.
constexpr uint32_t kUnknownRule = 0, kUnsupportedRule = 1;

}  // namespace

Rows::Rows(FileRange code) : code_(code), rows_{{0, kUnknownRule}} {
  CHECK(code.size() <= UINT32_MAX);
  number_of({.base = abi::UnwindRule::kUnknown});
  number_of({.base = abi::UnwindRule::kUnsupported});
}

uint32_t Rows::number_of(const abi::UnwindRule& rule) {
  const Key key{rule.cfa_offset, rule.rbp_offset, rule.cfa_add, rule.rip_offset,
                rule.base,       rule.rbp,        rule.flags};
  const auto known = numbers_.find(key);
  if (known != numbers_.end()) return known->second;
  if (rules_.size() == abi::kMaxUnwindRules) return kUnsupportedRule;
  rules_.push_back(rule);
  return numbers_[key] = static_cast<uint32_t>(rules_.size() - 1);
}

void Rows::from(FileAddr address, const abi::UnwindRule& rule) {
  CHECK(code_.contains(address));
  const auto offset = static_cast<uint32_t>(address - code_.begin);
  CHECK(offset >= rows_.back().offset);
  if (offset == rows_.back().offset && offset != 0) rows_.pop_back();
  const uint32_t number = number_of(rule);
  if (offset == 0)
    rows_.back().rule = number;
  else if (rows_.back().rule != number)
    rows_.push_back({offset, number});
}

void Rows::cut(FileAddr address) {
  while (rows_.size() > 1 && code_.begin + rows_.back().offset >= address) rows_.pop_back();
}

SegmentTable Rows::finish() {
  SegmentTable table{.code = code_, .index = {}, .rows = {}, .rules = std::move(rules_)};
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
