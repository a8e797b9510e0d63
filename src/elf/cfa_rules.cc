// SPDX-License-Identifier: MIT
// Call frame instructions (DWARF 5, 6.4.2): only what they tell of the canonical frame address is kept.
#include "elf/cfa_rules.h"

#include <dwarf.h>

#include <algorithm>

namespace blip::elf {
namespace {

constexpr uint64_t kDwarfRbp = 6, kDwarfRsp = 7;
constexpr size_t kMostStates = 64;     // remembered at a time
constexpr uint64_t kMostRows = 65536;  // of one frame

CfaRule::Base base_of(uint64_t dwarf_register) {
  if (dwarf_register == kDwarfRsp) return CfaRule::Base::kRsp;
  return dwarf_register == kDwarfRbp ? CfaRule::Base::kRbp : CfaRule::Base::kOther;
}

class Interpreter {
 public:
  explicit Interpreter(const Frame& frame) : frame_(frame), at_(frame.range.begin) {
    rows_.push_back({at_, rule_});
  }

  // Empty: something in it was not understood.
  std::vector<CfaRow> run() {
    if (!execute(frame_.initial) || !execute(frame_.instructions)) return {};
    return std::move(rows_);
  }

 private:
  bool execute(std::span<const uint8_t> instructions) {
    ByteReader reader(instructions);
    while (!reader.at_end())
      if (!step(reader) || !reader.ok() || rows_.size() > kMostRows) return false;
    return true;
  }

  void advance(uint64_t count) { at_ = at_ + count * frame_.code_alignment; }

  int64_t factored(int64_t n) const {  // may overflow in a hostile file
    return static_cast<int64_t>(static_cast<uint64_t>(n) * static_cast<uint64_t>(frame_.data_alignment));
  }

  bool set(CfaRule rule) {
    rule_ = rule;
    if (rows_.back().begin == at_) {
      rows_.back().rule = rule;
    } else if (!(rows_.back().rule == rule)) {
      rows_.push_back({at_, rule});
    }
    return true;
  }

  bool set_expression(ByteReader& reader) {
    reader.skip(reader.uleb128());
    return set({CfaRule::Base::kOther, 0});
  }

  bool remember() {
    if (states_.size() == kMostStates) return false;
    states_.push_back(rule_);
    return true;
  }

  bool restore() {
    if (states_.empty()) return false;
    const CfaRule rule = states_.back();
    states_.pop_back();
    return set(rule);
  }

  bool step(ByteReader& reader) {
    const auto opcode = reader.read<uint8_t>();
    switch (opcode & 0xc0) {
      case DW_CFA_advance_loc:
        return advance(opcode & 0x3f), true;
      case DW_CFA_offset:
        return reader.uleb128(), true;
      case DW_CFA_restore:
        return true;
    }
    return extended(opcode, reader);
  }

  bool extended(uint8_t opcode, ByteReader& reader) {
    switch (opcode) {
      case DW_CFA_nop:
        return true;
      case DW_CFA_advance_loc1:
        return advance(reader.read<uint8_t>()), true;
      case DW_CFA_advance_loc2:
        return advance(reader.read<uint16_t>()), true;
      case DW_CFA_advance_loc4:
        return advance(reader.read<uint32_t>()), true;
      case DW_CFA_remember_state:
        return remember();
      case DW_CFA_restore_state:
        return restore();
      case DW_CFA_def_cfa: {
        const auto base = base_of(reader.uleb128());
        return set({base, static_cast<int64_t>(reader.uleb128())});
      }
      case DW_CFA_def_cfa_sf: {
        const auto base = base_of(reader.uleb128());
        return set({base, factored(reader.sleb128())});
      }
      case DW_CFA_def_cfa_register:
        return set({base_of(reader.uleb128()), rule_.offset});
      case DW_CFA_def_cfa_offset:
        return set({rule_.base, static_cast<int64_t>(reader.uleb128())});
      case DW_CFA_def_cfa_offset_sf:
        return set({rule_.base, factored(reader.sleb128())});
      case DW_CFA_def_cfa_expression:
        return set_expression(reader);
      default:
        return of_registers(opcode, reader);
    }
  }

  // What is said of other registers is passed over.
  static bool of_registers(uint8_t opcode, ByteReader& reader) {
    switch (opcode) {
      case DW_CFA_restore_extended:
      case DW_CFA_undefined:
      case DW_CFA_same_value:
      case DW_CFA_GNU_args_size:
        return reader.uleb128(), true;
      case DW_CFA_offset_extended:
      case DW_CFA_register:
      case DW_CFA_val_offset:
      case DW_CFA_offset_extended_sf:
      case DW_CFA_val_offset_sf:
      case DW_CFA_GNU_negative_offset_extended:
        return reader.uleb128(), reader.uleb128(), true;
      case DW_CFA_expression:
      case DW_CFA_val_expression:
        reader.uleb128();
        return reader.skip(reader.uleb128()), true;
      default:
        return false;
    }
  }

  const Frame& frame_;
  FileAddr at_;
  CfaRule rule_;
  std::vector<CfaRow> rows_;
  std::vector<CfaRule> states_;
};

}  // namespace

std::vector<CfaRow> cfa_rows(const Frame& frame) { return Interpreter(frame).run(); }

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
