// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/addr.h"

namespace blip::x86 {

inline constexpr size_t kMaxInsnLength = 15;
inline constexpr size_t kJumpLength = 5;  // jmp rel32

// The effect of an instruction on the flow of control.
enum class Flow {
  kNext,  // falls through, always
  kJump,
  kCondJump,  // jcc, loop, jrcxz
  kCall,
  kReturn,
  kIndirectJump,
  kIndirectCall,
  kSyscall,
  kTrap,   // int3, int n, ud2, hlt
  kOther,  // far transfers, xbegin, sysenter, iret and the like: never moved
};

// The six status flags, at their places in RFLAGS.
inline constexpr uint32_t kCarry = 1u << 0;
inline constexpr uint32_t kParity = 1u << 2;
inline constexpr uint32_t kAdjust = 1u << 4;
inline constexpr uint32_t kZero = 1u << 6;
inline constexpr uint32_t kSign = 1u << 7;
inline constexpr uint32_t kOverflow = 1u << 11;
inline constexpr uint32_t kStatusFlags = kCarry | kParity | kAdjust | kZero | kSign | kOverflow;

// One decoded instruction: what the planner asks about it, and where the parts lie that relocation rewrites.
struct Insn {
  TargetAddr addr;
  uint8_t length = 0;
  Flow flow = Flow::kNext;
  std::string_view mnemonic;         // lives forever
  std::optional<TargetAddr> target;  // of a direct branch, xbegin included
  bool rip_relative = false;         // has a memory operand addressed from RIP ...
  TargetAddr rip_target;             // ... which is this address
  bool is_nop = false;               // any nop of one or more bytes; endbr64 is none
  bool is_endbr64 = false;
  bool is_loop_or_jrcxz = false;
  bool is_privileged = false;
  bool reads_flags = false;  // flags_read is not empty
  uint32_t flags_read = 0;   // of kStatusFlags
  uint32_t flags_written =
      0;  // of kStatusFlags; given a new value (or an undefined one) whatever the operands
  uint16_t registers_read = 0;  // bit n: general register n, any part of it, also to form an address
  uint16_t registers_written =
      0;  // bit n: given a new value of 64 bits whatever the old one and the operands are
  uint16_t registers_changed = 0;  // bit n: may be given another value, be it in a part of it
  bool touches_memory = false;     // by any operand, the stack of push and call included; nop and lea do not
  bool writes_memory = false;
  bool may_fault = false;  // touches memory that may not be there: not the stack, the module's, the thread's
  bool may_have_no_result = false;  // a division; floating-point arithmetic, if its exceptions are unmasked
  bool uses_rsp = false;            // rsp in a written operand: a register, a base, an index
  bool uses_vector = false;         // may touch vector, mask, MMX or x87 registers
  bool addr32 = false;              // 67 prefix: addresses and loop counters of 32 bits
  bool operand16 = false;           // 66 prefix in effect; vendors disagree what it means on a branch
  bool has_bnd = false;             // F2 before a branch
  uint8_t disp_offset = 0;          // of the disp32, if rip_relative
  uint8_t modrm_offset = 0;         // 0: none
  uint8_t condition = 0;            // 0..15, of jcc
  uint8_t lea_width = 0;            // 16, 32, 64 for lea, otherwise 0
  uint8_t lea_register = 0;         // 0 rax .. 15 r15

  TargetAddr end() const { return addr + length; }
  // Control never reaches end() by itself; a call counts as coming back.
  bool ends_flow() const {
    return flow == Flow::kJump || flow == Flow::kReturn || flow == Flow::kIndirectJump || flow == Flow::kTrap;
  }
};

// The instruction at the start of `bytes`, which lie at `at`; nothing if they are none, or cut short.
std::optional<Insn> decode(std::span<const uint8_t> bytes, TargetAddr at);

}  // namespace blip::x86
