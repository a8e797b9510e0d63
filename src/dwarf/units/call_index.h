// SPDX-License-Identifier: MIT
// Finds the calls in a file by their bytes. Debugging information names the function that is called, but
// several may have that name; the instruction shows which one it is.
#pragma once

#include <libelf.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/addr.h"

namespace blip::dwarf {

// The calls of one file, found in one pass over its code at about 1 ns per byte. Every byte is taken as the
// beginning of an instruction, so some bytes only look like a call; users check calls by other means too.
class CallIndex {
 public:
  // The file must outlive it.
  explicit CallIndex(Elf* program);

  // The return addresses of the calls of the code at `target`, sorted.
  std::vector<FileAddr> calls_of(FileAddr target) const;
  // The same of calls through the word at `slot`, which the loader fills in, by way of a stub or not.
  std::vector<FileAddr> calls_by(FileAddr slot) const;

  // The target of the jump with a 32-bit distance that ends, or begins, there.
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
