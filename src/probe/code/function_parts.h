// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/addr.h"
#include "elf/symbols.h"
#include "probe/code/module_flow.h"
#include "x86/flow/stack_depth.h"

namespace blip::probe {

// The code of one function as far as it is known: its own piece, and parts of it that lie elsewhere, which
// are taken in as they are found.
class FunctionParts {
 public:
  FunctionParts(const ModuleFlow& flow, const elf::Function& function)
      : flow_(flow), function_(function), parts_{{function, true}} {}

  // `is_own`: not shared with other functions, so that all of its code is this function's.
  void take_in(const elf::Function& piece, bool is_own);
  size_t count() const { return parts_.size(); }
  uint64_t size() const;
  // Null if none of them holds the address.
  const elf::Function* part_at(FileAddr a) const;
  template <class Predicate>
  bool any(Predicate&& is) const {
    return std::any_of(parts_.begin(), parts_.end(), [&](const Part& p) { return is(p.piece); });
  }
  // It is in a part that belongs to this function alone.
  bool is_own(TargetAddr a) const;

  // Decodes all parts, and finds the labels that indirect jumps in them may lead to.
  void decode();
  const x86::FunctionCode& code() const { return code_; }
  // Labels inside were found, besides the beginnings of parts.
  bool has_labels() const { return has_labels_; }

  const elf::Function& function() const { return function_; }
  bool is_own_entry(TargetAddr a) const { return flow_.pieces.is_entry(function_, file_address(a)); }
  FileAddr file_address(TargetAddr a) const { return flow_.module.to_file(a); }

 private:
  struct Part {
    elf::Function piece;
    bool is_own = false;
  };

  const Part* find(FileAddr a) const;
  void find_labels();
  void add_labels_taken(std::vector<TargetAddr>& labels) const;

  const ModuleFlow& flow_;
  const elf::Function function_;
  std::vector<Part> parts_;  // the first is the function itself
  x86::FunctionCode code_;
  bool has_labels_ = false;
};

}  // namespace blip::probe
