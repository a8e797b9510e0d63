// SPDX-License-Identifier: MIT
#include "probe/every_instruction.h"

#include <algorithm>

#include "x86/decode.h"

namespace blip::probe {

namespace {

constexpr uint8_t kInt3 = 0xcc;

// Leaves out what only fills the space behind a jump or a return, up to the next label.
void drop_padding(std::vector<x86::Insn>& insns, std::span<const uint8_t> bytes, TargetAddr start) {
  std::vector<TargetAddr> labels;
  for (const x86::Insn& insn : insns)
    if (insn.target) labels.push_back(*insn.target);
  std::sort(labels.begin(), labels.end());
  bool running = true;
  std::erase_if(insns, [&](const x86::Insn& insn) {
    const bool fills = insn.is_nop || bytes[insn.addr - start] == kInt3;
    if (!running && fills && !std::binary_search(labels.begin(), labels.end(), insn.addr)) return true;
    running = !insn.ends_flow();
    return false;
  });
}

}  // namespace

std::vector<x86::Insn> decode_all(std::span<const uint8_t> bytes, TargetAddr at) {
  std::vector<x86::Insn> insns;
  for (size_t offset = 0; offset < bytes.size();) {
    const auto insn = x86::decode(bytes.subspan(offset), at + offset);
    if (insn) insns.push_back(*insn);
    offset += insn ? insn->length : 1;
  }
  return insns;
}

std::vector<Point> every_instruction(const Module& module, std::span<const elf::Function> functions) {
  std::vector<elf::Function> sorted(functions.begin(), functions.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const elf::Function& a, const elf::Function& b) { return a.addr < b.addr; });
  std::vector<Point> points;
  for (size_t i = 0; i < sorted.size(); ++i) {
    const elf::Function& f = sorted[i];
    FileAddr end = f.addr + f.size;
    if (i + 1 < sorted.size()) end = std::min(end, sorted[i + 1].addr);
    const auto bytes = module.file().bytes({f.addr, end});
    const TargetAddr start = module.to_target(f.addr);
    std::vector<x86::Insn> insns = decode_all(bytes, start);
    drop_padding(insns, bytes, start);
    for (const x86::Insn& insn : insns)
      points.push_back({.addr = module.to_file(insn.addr), .is_entry = false, .function = f});
  }
  return points;
}

}  // namespace blip::probe
