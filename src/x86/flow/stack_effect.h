// SPDX-License-Identifier: MIT
// Computes the effect of an instruction on the stack pointer, and on other registers and stack slots that may
// hold it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "x86/registers.h"

namespace blip::x86 {

struct StackEffect {
  enum class Kind : uint8_t {
    kNone,   // only `clobbered`
    kCopy,   // reg = base + offset
    kAlign,  // reg is rounded down
    kPush,   // rsp -= size, then stores reg (kNoRegister: something else)
    kPop,    // loads reg (kNoRegister: elsewhere), then rsp += size
    kLeave,  // rsp = rbp; pop rbp
    kStore,  // 8 bytes at base + offset = reg
    kLoad,   // reg = 8 bytes at base + offset
  };
  Kind kind = Kind::kNone;
  uint8_t reg = kNoRegister;
  uint8_t base = kNoRegister;
  uint8_t size = 0;
  int64_t offset = 0;
  uint16_t clobbered = 0;  // bit n: general register n may get a value that the above does not tell
};

// How far up the instruction moves rsp; nullopt if it sets rsp to something else.
std::optional<int64_t> rsp_change(const StackEffect& effect);

// A call counts as coming back with the registers that the C ABI saves.
StackEffect stack_effect(std::span<const uint8_t> bytes);
StackEffect stack_effect(const struct Operands& operands);

}  // namespace blip::x86
