// SPDX-License-Identifier: MIT
// Finds the frame of a function at an address of its code.
#pragma once

#include <elfutils/libdw.h>

#include <memory>

#include "base/addr.h"
#include "dwarf/expression.h"
#include "dwarf/units/die.h"

namespace blip::dwarf {

struct CloseCfi {
  void operator()(Dwarf_CFI* cfi) const { ::dwarf_cfi_end(cfi); }
};

// The canonical frame address by call frame information, of the program (.eh_frame) and of its debugging
// information (.debug_frame).
class FrameTable {
 public:
  // Both must outlive it; `dwarf` may be null.
  FrameTable(Elf* program, Dwarf* dwarf);
  // Empty: not known.
  Operations cfa_at(FileAddr pc) const;
  // Says where the caller's value of a register, in DWARF's numbers, is saved.
  struct Saved {
    enum class Kind : uint8_t { kLost, kUnchanged, kTold } kind = Kind::kLost;
    Operations location;  // as of a variable
  };
  Saved saved_at(FileAddr pc, unsigned dwarf_register) const;

 private:
  std::unique_ptr<Dwarf_CFI, CloseCfi> program_;
  Dwarf_CFI* debug_ = nullptr;  // the Dwarf's
};

struct FrameRules {
  Operations cfa;
  Operations frame_base;  // empty: not known, or not set up yet
  // The prologue has not ended: what it stores is not there yet.
  bool in_prologue = false;
  // Neither prologue nor epilogue, as far as call frame information tells: registers that a place for the
  // whole function is told by are as in between.
  bool is_body = true;

  // A register holds the base, as set up by the prologue.
  bool base_is_register() const;

  // Some functions align their frame. r10 or r13 then holds the CFA in a part of the function, and is used as
  // a base without saying in which part. `dwarf_register` is one of the two.
  bool holds_cfa(unsigned dwarf_register) const;
  const FrameTable* table = nullptr;
  uint64_t entry = 0;
};

// `unit`: of the function, for its lines.
FrameRules frame_rules(const FrameTable& table, const Dwarf_Die& unit, const Dwarf_Die& function, FileAddr pc,
                       bool is_entry);

}  // namespace blip::dwarf
