// SPDX-License-Identifier: MIT
// Finds where indirect jumps of a module may lead, by the tables and pointers in its data.
#pragma once

#include <span>
#include <vector>

#include "elf/relocations.h"
#include "probe/code/module.h"
#include "probe/code/module_code.h"
#include "x86/flow/switch_jump.h"

namespace blip::probe {

class JumpTargets {
 public:
  // The module must outlive it.
  explicit JumpTargets(const Module& module);

  // Labels in a piece of code that data points at, its first address left out; sorted.
  std::vector<FileAddr> labels_in(FileRange code) const;
  std::vector<FileAddr> landing_pads_in(FileRange code) const;
  // Some data holds the address.
  bool is_pointed_at(FileAddr address) const;
  // The entries of a table, as long as they are addresses of code and no other table begins.
  std::vector<FileAddr> entries_of(x86::JumpSource::Kind kind, TargetAddr table) const;

 private:
  std::vector<FileAddr> distances(FileAddr table, uint64_t count) const;
  std::vector<FileAddr> pointers(FileAddr table, uint64_t count) const;

  const Module& module_;
  IndirectEntries entries_;
  std::vector<FileAddr> tables_;               // where tables begin
  std::vector<elf::StoredPointer> relocated_;  // sorted by place
};

}  // namespace blip::probe
