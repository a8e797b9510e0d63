// SPDX-License-Identifier: MIT
// Which instructions of a file call what, by their bytes: debugging information names what is called, which
// may be another function of that name, and the instruction says where it goes.
#pragma once

#include <libelf.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/addr.h"

namespace blip::dwarf {

// Of one file, made by one look at its code, about 1 ns per byte. Every byte is taken for the beginning of an
// instruction: what only looks like a call is among what is found, and callers know calls by other means too.
class CallIndex {
 public:
  // The file must outlive it.
  explicit CallIndex(Elf* program);

  // Where calls of the code at `target` return to, sorted.
  std::vector<FileAddr> calls_of(FileAddr target) const;
  // The same of calls through the word at `slot`, which the loader fills in, by way of a stub or not.
  std::vector<FileAddr> calls_by(FileAddr slot) const;

  // Where a jump with a 32-bit distance that ends, or begins, there leads to.
  std::optional<FileAddr> jump_ending_at(FileAddr end) const;
  std::optional<FileAddr> jump_beginning_at(FileAddr begin) const;

 private:
  struct Text {
    FileAddr begin;
    std::span<const uint8_t> bytes;
  };
  // From the first segment's beginning.
  struct Use {
    uint32_t of, where;
    auto operator<=>(const Use&) const = default;
  };

  void scan(const Text& text);
  void add(std::vector<Use>& uses, uint64_t of, uint64_t where) const;
  std::vector<FileAddr> find(const std::vector<Use>& uses, FileAddr of) const;
  const uint8_t* bytes_at(FileAddr at, size_t count) const;

  std::vector<Text> texts_;
  uint64_t base_ = 0;
  std::vector<Use> calls_;       // by what is called: where they return to
  std::vector<Use> slot_calls_;  // by the word
  std::vector<Use> slot_jumps_;  // by the word: where the jump is
};

}  // namespace blip::dwarf
