// SPDX-License-Identifier: MIT
// Reads from a frame's call frame instructions, for each instruction, what a walk up the stack needs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "elf/eh_frame.h"

namespace blip::elf {

inline constexpr uint64_t kDwarfRbp = 6, kDwarfRsp = 7, kDwarfRip = 16;

// The rule for the canonical frame address: a register and an offset, or an expression.
struct CfaDefinition {
  uint64_t dwarf_register = UINT64_MAX;
  int64_t offset = 0;
  std::span<const uint8_t> expression;  // instead, if it is not empty
};

// The place of the caller's value of a register.
struct SavedRegister {
  enum class Where : uint8_t {
    kSame,       // in the register still
    kUndefined,  // nowhere
    kAtCfa,      // in memory, `offset` from the CFA
    kAt,         // in memory, where the expression says
    kElsewhere,  // in another register, or it is calculated
  } where = Where::kSame;
  int64_t offset = 0;
  std::span<const uint8_t> expression;
};

// From `begin` on, to the next row.
struct CallFrameRow {
  FileAddr begin;
  CfaDefinition cfa;
  SavedRegister rbp, rip;
};

// The rows of a frame, sorted, the first at its begin. None where the instructions cannot be read.
std::vector<CallFrameRow> call_frame_rows(const Frame& frame);

}  // namespace blip::elf
