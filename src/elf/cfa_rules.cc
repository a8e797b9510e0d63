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
  for_each_frame(file, [&](const Frame& frame) { frames_.push_back(frame); });
  std::sort(frames_.begin(), frames_.end(), [](const Frame& a, const Frame& b) { return a.range < b.range; });
}

const Frame* CfaTable::frame_at(FileAddr address) const {
  const auto after = std::upper_bound(frames_.begin(), frames_.end(), address,
                                      [](FileAddr a, const Frame& frame) { return a < frame.range.begin; });
  if (after == frames_.begin() || !std::prev(after)->range.contains(address)) return nullptr;
  return &*std::prev(after);
}

std::optional<CfaTable::Rows> CfaTable::rows_at(FileAddr address) const {
  const Frame* frame = frame_at(address);
  if (!frame) return std::nullopt;
  Rows found{frame->range, cfa_rows(*frame)};
  return found.rows.empty() ? std::nullopt : std::optional(std::move(found));
}

bool CfaTable::is_signal_frame(FileAddr address) const {
  const Frame* frame = frame_at(address);
  return frame && frame->is_signal_frame;
}

const CfaRow* CfaTable::row_at(const std::vector<CfaRow>& rows, FileAddr address) {
  const auto after = std::upper_bound(rows.begin(), rows.end(), address,
                                      [](FileAddr a, const CfaRow& row) { return a < row.begin; });
  return after == rows.begin() ? nullptr : &*std::prev(after);
}

}  // namespace blip::elf
