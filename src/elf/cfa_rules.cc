// SPDX-License-Identifier: MIT
#include "elf/cfa_rules.h"

#include <algorithm>

#include "elf/call_frame.h"

namespace blip::elf {
namespace {

CfaRule rule_of(const CfaDefinition& cfa) {
  if (cfa.dwarf_register == kDwarfRsp) return {CfaRule::Base::kRsp, cfa.offset};
  if (cfa.dwarf_register == kDwarfRbp) return {CfaRule::Base::kRbp, cfa.offset};
  return {CfaRule::Base::kOther, cfa.offset};
}

}  // namespace

std::vector<CfaRow> cfa_rows(const Frame& frame) {
  std::vector<CfaRow> rows;
  for (const CallFrameRow& row : call_frame_rows(frame))
    if (const CfaRule rule = rule_of(row.cfa); rows.empty() || !(rows.back().rule == rule))
      rows.push_back({row.begin, rule});
  return rows;
}

CfaTable::CfaTable(const ElfFile& file) {
  for_each_frame(file, [&](const Frame& frame) { entries_.push_back({frame, std::nullopt}); });
  std::sort(entries_.begin(), entries_.end(),
            [](const Entry& a, const Entry& b) { return a.frame.range < b.frame.range; });
}

size_t CfaTable::index_at(FileAddr address) const {
  const auto after =
      std::upper_bound(entries_.begin(), entries_.end(), address,
                       [](FileAddr a, const Entry& entry) { return a < entry.frame.range.begin; });
  if (after == entries_.begin() || !std::prev(after)->frame.range.contains(address)) return entries_.size();
  return static_cast<size_t>(after - entries_.begin()) - 1;
}

const std::vector<CfaRow>* CfaTable::rows_at(FileAddr address) {
  const size_t i = index_at(address);
  if (i == entries_.size()) return nullptr;
  Entry& entry = entries_[i];
  if (!entry.rows) entry.rows = cfa_rows(entry.frame);
  return entry.rows->empty() ? nullptr : &*entry.rows;
}

bool CfaTable::is_signal_frame(FileAddr address) const {
  const size_t i = index_at(address);
  return i < entries_.size() && entries_[i].frame.is_signal_frame;
}

const CfaRow* CfaTable::row_at(const std::vector<CfaRow>& rows, FileAddr address) {
  const auto after = std::upper_bound(rows.begin(), rows.end(), address,
                                      [](FileAddr a, const CfaRow& row) { return a < row.begin; });
  return after == rows.begin() ? nullptr : &*std::prev(after);
}

}  // namespace blip::elf
