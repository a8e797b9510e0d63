// SPDX-License-Identifier: MIT
#include "probe/instructions.h"

#include <fmt/core.h>

#include <optional>

#include "probe/functions.h"
#include "x86/decode.h"
#include "x86/instruction_text.h"

namespace blip::probe {

namespace {

// Calls visit(begin, length) for each instruction until it returns false; returns where the bytes are none.
template <typename Visit>
std::optional<FileAddr> walk(const Module& module, const elf::Function& function, Visit visit) {
  const auto bytes = module.file().bytes(function.range());
  size_t at = 0;
  while (at < bytes.size()) {
    const FileAddr begin = function.addr + at;
    const auto insn = x86::decode(bytes.subspan(at), module.to_target(begin));
    if (!insn) return begin;
    if (!visit(begin, insn->length)) return {};
    at += insn->length;
  }
  if (at < function.size) return function.addr + at;
  return {};
}

}  // namespace

std::string undecodable(const Module& module, const elf::Function& function) {
  if (function.size == 0) return kNoSize;
  const auto at = walk(module, function, [](FileAddr, uint8_t) { return true; });
  if (!at) return {};
  return fmt::format("the bytes at {} are no instruction", place_name(module, function, *at));
}

std::string not_an_instruction(const Module& module, const elf::Function& function, FileAddr address) {
  FileAddr covering = function.addr;
  const auto undecodable = walk(module, function, [&](FileAddr begin, uint8_t length) {
    covering = begin;
    return begin + length <= address;
  });
  if (undecodable)
    return fmt::format("the bytes at {} are no instruction, so what follows them is not known to be one",
                       place_name(module, function, *undecodable));
  if (covering == address) return {};
  const auto bytes = module.file().bytes({covering, function.range().end});
  return fmt::format("inside \"{}\", which begins at {}",
                     x86::instruction_text(bytes, module.to_target(covering)),
                     place_name(module, function, covering));
}

}  // namespace blip::probe
