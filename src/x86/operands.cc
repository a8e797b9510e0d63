// SPDX-License-Identifier: MIT
#include "x86/operands.h"

#include "x86/decoder.h"

namespace blip::x86 {

std::optional<ZydisDecodedInstruction> shape_of(std::span<const uint8_t> bytes) {
  ZydisDecoderContext context;
  ZydisDecodedInstruction insn;
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder(), &context, bytes.data(), bytes.size(), &insn)))
    return std::nullopt;
  return insn;
}

std::optional<Operands> operands_of(std::span<const uint8_t> bytes) {
  Operands operands;
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder(), bytes.data(), bytes.size(), &operands.insn,
                                           operands.all.data())))
    return std::nullopt;
  return operands;
}

uint8_t general_register(ZydisRegister r) {
  const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);
  if (ZydisRegisterGetClass(whole) != ZYDIS_REGCLASS_GPR64) return kNoRegister;
  return static_cast<uint8_t>(ZydisRegisterGetId(whole));
}

bool is_plain_slot(const ZydisDecodedOperand& o) {
  return o.mem.index == ZYDIS_REGISTER_NONE && o.mem.segment != ZYDIS_REGISTER_FS &&
         o.mem.segment != ZYDIS_REGISTER_GS && ZydisRegisterGetClass(o.mem.base) == ZYDIS_REGCLASS_GPR64;
}

uint16_t registers_changed(const Operands& operands) {
  uint16_t changed = 0;
  for (const ZydisDecodedOperand& o : operands.each()) {
    if (o.type != ZYDIS_OPERAND_TYPE_REGISTER || !(o.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)) continue;
    const uint8_t n = general_register(o.reg.value);
    if (n != kNoRegister) changed |= static_cast<uint16_t>(1 << n);
  }
  return changed;
}

}  // namespace blip::x86
