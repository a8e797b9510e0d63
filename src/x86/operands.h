// SPDX-License-Identifier: MIT
// For the few that look at single operands: an instruction as Zydis shows it.
#pragma once

#include <Zydis/Zydis.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "base/addr.h"
#include "x86/registers.h"

namespace blip::x86 {

struct Insn;

struct Operands {
  ZydisDecodedInstruction insn;
  std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> all;

  std::span<const ZydisDecodedOperand> each() const { return {all.data(), insn.operand_count}; }
  bool is_register(unsigned i) const {
    return i < insn.operand_count && all[i].type == ZYDIS_OPERAND_TYPE_REGISTER;
  }
  bool is_memory(unsigned i) const {
    return i < insn.operand_count && all[i].type == ZYDIS_OPERAND_TYPE_MEMORY;
  }
  bool is_immediate(unsigned i) const {
    return i < insn.operand_count && all[i].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
  }
};

std::optional<Operands> operands_of(std::span<const uint8_t> bytes);

// The same without its operands, which takes half the time.
std::optional<ZydisDecodedInstruction> shape_of(std::span<const uint8_t> bytes);

// Both views of an instruction for the price of one: see decode().
std::optional<Insn> decode(std::span<const uint8_t> bytes, TargetAddr at, Operands& operands);

// 0 rax .. 15 r15, whatever its width; kNoRegister: no general register.
uint8_t general_register(ZydisRegister r);

// Memory at disp(base), all 64 bits of it, without an index.
bool is_plain_slot(const ZydisDecodedOperand& o);

// General registers that may get a new value, also in part or under a condition.
uint16_t registers_changed(const Operands& operands);

}  // namespace blip::x86
