// SPDX-License-Identifier: MIT
#include "x86/flow/stack_pointer.h"

#include <algorithm>

#include "x86/operands.h"

namespace blip::x86 {
namespace {

constexpr uint16_t bit(uint8_t n) { return n == kNoRegister ? 0 : static_cast<uint16_t>(1 << n); }

// Calls visit(operands) for each instruction of a linear decoding until it returns false.
template <typename Visit>
void each_instruction(std::span<const uint8_t> code, Visit visit) {
  for (size_t at = 0; at < code.size();) {
    const auto o = operands_of(code.subspan(at));
    if (o && !visit(*o)) return;
    at += o ? o->insn.length : 1;
  }
}

// True if rsp is set as an explicit operand: not by push, pop, call, ret, leave.
bool sets_rsp(const Operands& o) {
  return std::any_of(o.each().begin(), o.each().end(), [](const ZydisDecodedOperand& operand) {
    return operand.visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT &&
           operand.type == ZYDIS_OPERAND_TYPE_REGISTER && operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE &&
           general_register(operand.reg.value) == kRsp;
  });
}

uint16_t bit_of(const Operands& o, unsigned i) {
  return o.is_register(i) ? bit(general_register(o.all[i].reg.value)) : 0;
}

uint16_t address_registers(const ZydisDecodedOperand& memory) {
  return bit(general_register(memory.mem.base)) | bit(general_register(memory.mem.index));
}

// True if an explicit operand may be rsp, or a part of it: register 4, by one of the places that hold numbers
// of registers. Most instructions have none there.
bool may_name_rsp(const ZydisDecodedInstruction& z) {
  constexpr uint8_t kNumber = 4;
  if (z.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY) return true;
  if (!(z.attributes & ZYDIS_ATTRIB_HAS_MODRM)) return (z.opcode & 7) == kNumber;
  return z.raw.modrm.reg == kNumber || (z.raw.modrm.mod == 3 && z.raw.modrm.rm == kNumber);
}

// The registers from which the first operand is made, if it is a sum, a copy, or aligned.
uint16_t made_of(const Operands& o) {
  switch (o.insn.mnemonic) {
    case ZYDIS_MNEMONIC_LEA:
      return address_registers(o.all[1]);
    case ZYDIS_MNEMONIC_MOV:
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_CMOVB:
    case ZYDIS_MNEMONIC_CMOVNB:
      return bit_of(o, 1);
    default:
      return 0;
  }
}

// Registers that somewhere get a value made of rsp. Code may lie in another order than it runs in.
uint16_t made_of_rsp(std::span<const uint8_t> code) {
  uint16_t known = bit(kRsp);
  for (uint16_t before = 0; before != known;) {
    before = known;
    each_instruction(code, [&](const Operands& o) {
      if (made_of(o) & known) known |= bit_of(o, 0);
      return true;
    });
  }
  return known;
}

// Looks at an instruction that sets rsp.
bool sets_a_stack(const Operands& o, std::span<const uint8_t> code) {
  if (!o.is_register(0) || o.all[0].size != 64) return false;
  switch (o.insn.mnemonic) {
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_POP:
    case ZYDIS_MNEMONIC_CMOVB:
    case ZYDIS_MNEMONIC_CMOVNB:
      return true;
    case ZYDIS_MNEMONIC_MOV:
      return !o.is_immediate(1);
    case ZYDIS_MNEMONIC_AND:
      return o.is_immediate(1) && o.all[1].imm.value.s < 0;
    case ZYDIS_MNEMONIC_LEA:
      return o.all[1].mem.index == ZYDIS_REGISTER_NONE || address_registers(o.all[1]) & made_of_rsp(code);
    case ZYDIS_MNEMONIC_XCHG:
      return (bit_of(o, 0) | bit_of(o, 1)) & made_of_rsp(code) & ~bit(kRsp);
    default:
      return false;
  }
}

}  // namespace

bool calculates_with_rsp(std::span<const uint8_t> code) {
  for (size_t at = 0; at < code.size();) {
    const auto insn = shape_of(code.subspan(at));
    if (insn && may_name_rsp(*insn)) {
      const auto o = operands_of(code.subspan(at));
      if (o && sets_rsp(*o) && !sets_a_stack(*o, code)) return true;
    }
    at += insn ? insn->length : 1;
  }
  return false;
}

}  // namespace blip::x86
