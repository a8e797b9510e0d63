// SPDX-License-Identifier: MIT
#include "x86/instruction_text.h"

#include <Zydis/Zydis.h>

#include <algorithm>

#include "x86/decode.h"

namespace blip::x86 {

std::string instruction_text(std::span<const uint8_t> bytes, TargetAddr at) {
  ZydisDecoder decoder;
  ZydisFormatter formatter;
  ZydisDecodedInstruction insn;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  char text[128];
  const bool whole =
      ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) &&
      ZYAN_SUCCESS(ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_ATT)) &&
      ZYAN_SUCCESS(ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE)) &&
      ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes.data(), std::min(bytes.size(), kMaxInsnLength),
                                          &insn, operands)) &&
      ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&formatter, &insn, operands, insn.operand_count_visible,
                                                   text, sizeof text, at.value, nullptr));
  return whole ? text : "";
}

}  // namespace blip::x86
