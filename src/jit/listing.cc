// SPDX-License-Identifier: MIT
#include "jit/listing.h"

#include <Zydis/Zydis.h>
#include <fmt/core.h>

namespace blip::jit {

std::string listing(std::span<const uint8_t> code, TargetAddr at) {
  std::string text;
  for (size_t offset = 0; offset < code.size();) {
    ZydisDisassembledInstruction insn;
    const auto status = ZydisDisassembleIntel(ZYDIS_MACHINE_MODE_LONG_64, at.value + offset,
                                              code.data() + offset, code.size() - offset, &insn);
    if (!ZYAN_SUCCESS(status) || insn.info.mnemonic == ZYDIS_MNEMONIC_INT3) break;
    text += fmt::format("{:4x}  {}\n", offset, insn.text);
    offset += insn.info.length;
  }
  return text;
}

}  // namespace blip::jit
