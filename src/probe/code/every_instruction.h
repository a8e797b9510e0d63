// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <vector>

#include "probe/code/module.h"
#include "probe/code/site.h"
#include "x86/decode.h"

namespace blip::probe {

// Linear decoding; bytes that are no instruction are skipped one by one.
template <typename Visit>
void for_each_instruction(std::span<const uint8_t> bytes, TargetAddr at, Visit visit) {
  for (size_t offset = 0; offset < bytes.size();) {
    const auto insn = x86::decode(bytes.subspan(offset), at + offset);
    if (insn) visit(*insn);
    offset += insn ? insn->length : 1;
  }
}

// The same, all of them: 100 bytes of memory for each.
std::vector<x86::Insn> decode_all(std::span<const uint8_t> bytes, TargetAddr at);

// Every instruction of the functions as a point, by linear decoding; functions that overlap give each once.
// What cannot be decoded is left out, and so are nops and int3 that only fill space.
std::vector<Point> every_instruction(const Module& module, std::span<const elf::Function> functions);

// How many those are, with the nops and int3: takes no memory.
size_t count_instructions(const Module& module, std::span<const elf::Function> functions);

}  // namespace blip::probe
