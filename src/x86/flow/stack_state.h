// SPDX-License-Identifier: MIT
// Tracks which registers and stack slots hold which addresses of the stack.
#pragma once

#include <array>
#include <cstdint>

#include "x86/flow/stack_effect.h"

namespace blip::x86 {

// An address of the stack: a distance from rsp at the function's entry (base kEntryRsp) or from rsp after
// some instruction that aligned it.
struct StackValue {
  uint8_t base = 0;  // 0: not known
  int32_t offset = 0;

  bool known() const { return base != 0; }
  bool operator==(const StackValue&) const = default;
};
inline constexpr uint8_t kEntryRsp = 1;

class StackState {
 public:
  static StackState at_entry() {
    StackState s;
    s.set(kRsp, {kEntryRsp, 0});
    return s;
  }

  StackValue get(uint8_t reg) const { return registers_[reg & 15]; }
  void set(uint8_t reg, StackValue value) { registers_[reg & 15] = value; }
  // `aligned_base`: the base of what an instruction that aligns rsp makes of it; 0: none is left.
  void apply(const StackEffect& effect, uint8_t aligned_base);
  // Keeps what both agree on. True: that is less than it was.
  bool merge(const StackState& other);

 private:
  struct Slot {
    StackValue at, value;
    bool operator==(const Slot&) const = default;
  };

  StackValue load(StackValue at) const;
  void store(StackValue at, StackValue value);
  void pop(uint8_t reg, uint8_t size);

  std::array<StackValue, 16> registers_{};
  std::array<Slot, 4> slots_{};  // only those with a value
};

}  // namespace blip::x86
