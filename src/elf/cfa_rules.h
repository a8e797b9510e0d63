// SPDX-License-Identifier: MIT
// Finds the frame of a function at each of its instructions, from the unwind table.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "elf/eh_frame.h"

namespace blip::elf {

// The rule for the canonical frame address: rsp before the call that made the frame, so rsp + 8 at the entry.
struct CfaRule {
  enum class Base : uint8_t { kRsp, kRbp, kOther };  // kOther: another register, or an expression
  Base base = Base::kOther;
  int64_t offset = 0;

  bool operator==(const CfaRule&) const = default;
};

// From `begin` on, to the next row.
struct CfaRow {
  FileAddr begin;
  CfaRule rule;
};

// The rows of a frame, sorted, the first at its begin. None where the table cannot be read.
std::vector<CfaRow> cfa_rows(const Frame& frame);

// The frames of a file. The file must outlive it.
class CfaTable {
 public:
  explicit CfaTable(const ElfFile& file);

  // A frame and its rows, read anew each time.
  struct Rows {
    FileRange range;
    std::vector<CfaRow> rows;
  };
  // The rows of the frame that holds the address; nullopt if there is none, or it cannot be read.
  std::optional<Rows> rows_at(FileAddr address) const;

  // The address is in a frame that is_signal_frame.
  bool is_signal_frame(FileAddr address) const;

  static const CfaRow* row_at(const std::vector<CfaRow>& rows, FileAddr address);

 private:
  const Frame* frame_at(FileAddr address) const;

  std::vector<Frame> frames_;  // sorted by begin
};

}  // namespace blip::elf
