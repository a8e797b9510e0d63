// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/addr.h"
#include "base/result.h"
#include "x86/decode.h"

namespace blip::x86 {

// A copy of some instructions that does at its new place what they did at the old one.
struct Relocated {
  std::vector<uint8_t> bytes;
  // Original offset -> offset in bytes, one per instruction, ascending. A thread in the copy may be moved
  // back only if it stands exactly at one of these: a call or loop becomes several instructions.
  std::vector<std::pair<uint8_t, uint16_t>> heads;
  bool falls_through =
      false;  // control can run past the last one: a jump to the original next one must follow
};

struct RelocateOptions {
  bool shadow_stack = false;  // the target has CET shadow stacks: a call cannot be imitated by push and jmp
};

// Why no copy of this instruction can be right, wherever it stands; nothing if one can.
std::optional<std::string> immovable(const Insn& insn);

// Moves the whole instructions in `window`, which lie at `from`, one after the other, so that other code can
// stand between them. All registers, flags and memory come out the same; a call as the last instruction
// leaves the ORIGINAL return address. Branches to an instruction inside the window go to its head; branches
// to `from` itself go to `from`, where the probe fires again. The copies must run with the original rsp.
// kUnsupported with a reason for users when that cannot be done.
class Relocator {
 public:
  // Four bytes of the copies that could be known only at the end: `rel32` belongs at `at`.
  struct Fixup {
    TargetAddr at;
    int32_t rel32;
  };

  Relocator(std::span<const uint8_t> window, TargetAddr from, const RelocateOptions& options = {});

  bool done() const { return at_ == window_.size(); }
  // The offset of the next instruction in the window.
  uint8_t offset() const { return static_cast<uint8_t>(at_); }
  // The next instruction's copy, for the address `to`. `head` is where branches to it shall lead: `to`, or
  // code before it that runs into it.
  Result<std::vector<uint8_t>> next(TargetAddr to, TargetAddr head);
  // Control can run past the last copy made: a jump to the original next one must follow.
  bool falls_through() const { return falls_through_; }
  // When done: what is still missing.
  Result<std::vector<Fixup>> fixups() const;

 private:
  struct InnerBranch {
    TargetAddr rel32_at;
    uint8_t goal;  // original offset
    TargetAddr branch;
  };

  std::span<const uint8_t> window_;
  TargetAddr from_;
  RelocateOptions options_;
  size_t at_ = 0;
  bool falls_through_ = true;
  std::vector<std::pair<uint8_t, TargetAddr>> heads_;
  std::vector<InnerBranch> inner_branches_;
};

// All copies in one piece at `to`.
Result<Relocated> relocate(std::span<const uint8_t> window, TargetAddr from, TargetAddr to,
                           const RelocateOptions& options = {});

}  // namespace blip::x86
