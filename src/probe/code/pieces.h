// SPDX-License-Identifier: MIT
// The code of a module in pieces: functions, and parts of functions that lie elsewhere.
#pragma once

#include <optional>
#include <vector>

#include "elf/cfa_rules.h"
#include "elf/symbols.h"
#include "probe/code/module.h"
#include "x86/flow/stack_depth.h"

namespace blip::probe {

class Pieces {
 public:
  // The module must outlive it.
  explicit Pieces(const Module& module);

  // Sorted by address, one per address.
  const std::vector<elf::Function>& all() const { return all_; }
  // The piece that holds the address: of several the one that begins last.
  const elf::Function* at(FileAddr address) const;
  bool is_plt(FileAddr address) const;
  // Nothing but nops from there to the next piece: assembly runs through them into it.
  std::optional<elf::Function> padding_at(FileAddr address) const;
  // True if control gets there from outside as at a function's entry: at its first instruction, or behind its
  // endbr64.
  bool is_entry(const elf::Function& piece, FileAddr address) const;

  // Its instructions, with what the unwind table says of them.
  std::vector<x86::FlowInsn> decode(const elf::Function& piece) const;
  x86::StackHint hint_at(FileAddr address) const;
  // The unwind table says that a frame is there already when it is entered: it is a part of a function.
  bool begins_in_frame(const elf::Function& piece) const;
  // It is the way back from signal handlers.
  bool is_signal_frame(const elf::Function& piece) const { return cfa_.is_signal_frame(piece.addr); }

 private:
  const Module& module_;
  std::vector<elf::Function> all_;
  std::vector<FileAddr> reach_;  // reach_[i]: the highest end of all_[0..i]
  elf::CfaTable cfa_;
};

}  // namespace blip::probe
