// SPDX-License-Identifier: MIT
#include "probe/code/instructions.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>

#include "probe/code/functions.h"
#include "x86/decode.h"
#include "x86/instruction_text.h"

namespace blip::probe {

namespace {

// Goes on where it ended the last time, until an instruction ends behind the offset or the bytes are none.
bool decode_up_to(uint64_t offset, std::span<const uint8_t> bytes, TargetAddr begin,
                  std::vector<uint32_t>& offsets, uint64_t& end) {
  while (end <= offset) {
    const auto insn = end < bytes.size() ? x86::decode(bytes.subspan(end), begin + end) : std::nullopt;
    if (!insn) return false;
    offsets.push_back(static_cast<uint32_t>(end));
    end += insn->length;
  }
  return true;
}

}  // namespace

std::string undecodable(const Module& module, const elf::Function& function) {
  if (function.size == 0) return kNoSize;
  const auto found = InstructionStarts().around(module, function, function.addr + (function.size - 1));
  if (found.is_known) return {};
  return fmt::format("the bytes at {} are no instruction", place_name(module, function, found.begin));
}

InstructionStarts::Found InstructionStarts::around(const Module& module, const elf::Function& function,
                                                   FileAddr address) {
  Decoded& known = functions_[{module.identity(), function.addr, function.size}];
  const uint64_t offset = address - function.addr;
  if (!decode_up_to(offset, module.file().bytes(function.range()), module.to_target(function.addr),
                    known.offsets, known.end))
    return {.begin = function.addr + known.end, .is_known = false};
  const auto after = std::upper_bound(known.offsets.begin(), known.offsets.end(), offset);
  return {.begin = function.addr + *std::prev(after)};
}

std::string not_an_instruction(const Module& module, const elf::Function& function, FileAddr address,
                               InstructionStarts& starts) {
  const auto found = starts.around(module, function, address);
  if (!found.is_known)
    return fmt::format("the bytes at {} are no instruction, so what follows them is not known to be one",
                       place_name(module, function, found.begin));
  if (found.begin == address) return {};
  const auto bytes = module.file().bytes({found.begin, function.range().end});
  return fmt::format("inside \"{}\", which begins at {}",
                     x86::instruction_text(bytes, module.to_target(found.begin)),
                     place_name(module, function, found.begin));
}

}  // namespace blip::probe
