// SPDX-License-Identifier: MIT
// The table of the stacks seen, as blip makes and reads it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "abi/unwind.h"
#include "base/addr.h"

namespace blip::unwind {

struct StackFrame {
  TargetAddr address;
  bool is_return = false;  // the call before it is what counts; otherwise a hit, or where a signal came

  // The address to look up in tables of lines and symbols.
  TargetAddr code() const { return is_return ? address - 1 : address; }
  bool operator==(const StackFrame&) const = default;
};

struct Stack {
  std::vector<StackFrame> frames;  // the hit's own first
  abi::UnwindEnd end = abi::UnwindEnd::kOutermost;
};

// "the depth asked for", "no unwind information": why a stack is not whole; empty if it is.
const char* why_cut(abi::UnwindEnd end);

struct StackTableSize {
  uint32_t slots = 0;   // a power of two: twice as many as stacks are hoped for
  uint32_t frames = 0;  // of all stacks together
  uint32_t depth = 0;   // of one, up to abi::kMaxStackDepth

  uint64_t bytes() const { return abi::stack_table_size(slots, frames); }
};

class StackTableReader {
 public:
  // `memory` has size.bytes(), is aligned and outlives this. Empties the table: threads must not use it yet.
  static StackTableReader create(std::span<uint8_t> memory, const StackTableSize& size);

  // One that was made so before, whose memory has size.bytes(). Nothing that it holds is believed.
  static StackTableReader open(std::span<const uint8_t> memory, const StackTableSize& size) {
    return {memory, size};
  }

  // The stack behind an id that was found in a record. Nothing: kNoStack, or the target has changed the
  // table.
  std::optional<Stack> find(uint32_t id) const;

  // The number of hits without room for their stack, as the target counts them.
  uint64_t refused() const;

 private:
  StackTableReader(std::span<const uint8_t> memory, const StackTableSize& size)
      : memory_(memory), size_(size) {}

  std::span<const uint8_t> memory_;
  StackTableSize size_;
};

}  // namespace blip::unwind
