// SPDX-License-Identifier: MIT
// Arguments at the first instruction of code that is not optimized, whatever its calling convention:
// debugging information tells where they are in the frame, the code of the prologue what it stores there.
#pragma once

#include <elfutils/libdw.h>

#include <span>

#include "base/addr.h"
#include "script/types/scope.h"
#include "x86/flow/argument_stores.h"

namespace blip::dwarf {

// The first bytes of the code at an address of the file; empty: it has none there.
std::span<const uint8_t> code_at(Elf* elf, FileAddr at);

class StoredArguments {
 public:
  // `base_is_register`: places are told by registers as they are behind the prologue.
  StoredArguments(Elf* program, FileAddr entry, bool base_is_register);

  // `behind`: where debugging information has it behind the prologue. kOptimizedOut: not known.
  script::Place place(const script::Place& behind, uint64_t size) const;
  // The same of a place that is told from `distance` bytes behind the entry on, by a register that is still
  // the caller's.
  script::Place unchanged(const script::Place& later, uint64_t distance) const;

 private:
  // Says what a node of such a place stands for.
  struct Meaning {
    enum class Kind : uint8_t { kNone, kNumber, kFrame, kArgument } kind = Kind::kNone;
    int64_t value = 0;  // a number, a distance from rsp at the entry, a register
  };

  Meaning meaning(const script::Code& code) const;
  Meaning of_node(const script::Node& node, const std::vector<Meaning>& before) const;
  Meaning of_register(uint64_t reg) const;
  const x86::ArgumentStore* stored_at(int64_t at) const;
  script::Place gather(int64_t at, uint64_t size) const;

  x86::Prologue prologue_;
  bool base_is_register_;
};

}  // namespace blip::dwarf
