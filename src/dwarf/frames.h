// SPDX-License-Identifier: MIT
// Finds the frame of a function at an address of its code.
#pragma once

#include <elfutils/libdw.h>

#include <memory>
#include <optional>
#include <span>

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
  // The end of the code from `pc` on that the same rules hold for; 0 if there are none.
  uint64_t end_of_rules(FileAddr pc) const;
  // Says where rsp is at an address whose CFA the table gives by another register, by following the code from
  // there to a place where the table gives rsp. That is so at the end of a function. nullopt if it is not
  // seen.
  struct StackEnd {
    int64_t below_cfa = 0;
    bool is_cut = false;  // the frame is given back, all but saved registers
  };
  std::optional<StackEnd> stack_end(FileAddr pc) const;
  // Says where the caller's value of a register, in DWARF's numbers, is saved.
  struct Saved {
    enum class Kind : uint8_t { kLost, kUnchanged, kTold } kind = Kind::kLost;
    Operations location;  // as of a variable
  };
  Saved saved_at(FileAddr pc, unsigned dwarf_register) const;

 private:
  Elf* elf_;
  std::unique_ptr<Dwarf_CFI, CloseCfi> program_;
  Dwarf_CFI* debug_ = nullptr;  // the Dwarf's
};

struct FrameRules {
  Operations cfa;
  Operations cfa_of_body;  // where the function has its whole frame
  Operations told_base;    // by debugging information, whether it is set up yet or not
  Operations frame_base;   // empty: not known, or not set up yet
  // The prologue has not ended: what it stores is not there yet.
  bool in_prologue = false;
  // Neither prologue nor epilogue, as far as call frame information tells: registers that a place for the
  // whole function is told by are as in between.
  bool is_body = true;
  bool is_cut = false;                        // in an epilogue that has given the frame back
  std::optional<int64_t> rbp_above_rsp = {};  // if both are known

  // A register holds the base, as set up by the prologue.
  bool base_is_register() const;

  // Some functions align their frame. r10 or r13 then holds the CFA in a part of the function, and is used as
  // a base without saying in which part. `dwarf_register` is one of the two.
  bool holds_cfa(unsigned dwarf_register) const;

  // clang tells places by the frame's register as the prologue leaves it, for all of the function: also where
  // the prologue has yet to set it up, where an epilogue has given it back, and where arguments of a call are
  // on the stack. Returns the location by the register that the CFA is told by here. Empty if it need not be
  // changed.
  Operations by_cfa_register(std::span<const Dwarf_Op> location) const;

  // Looks whether an epilogue has moved rsp. `pc`: the same, where an instruction begins.
  void find_stack_end(FileAddr pc);

  const FrameTable* table = nullptr;
  uint64_t entry = 0;
  Dwarf_Die unit{}, function{};

 private:
  std::optional<int64_t> base_below_cfa() const;
};

// `unit`: of the function, for its lines.
FrameRules frame_rules(const FrameTable& table, const Dwarf_Die& unit, const Dwarf_Die& function, FileAddr pc,
                       bool is_entry);

}  // namespace blip::dwarf
