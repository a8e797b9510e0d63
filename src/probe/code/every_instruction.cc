// SPDX-License-Identifier: MIT
#include "probe/code/every_instruction.h"

#include <algorithm>
#include <atomic>

#include "base/parallel.h"
#include "x86/decode.h"

namespace blip::probe {

namespace {

constexpr uint8_t kInt3 = 0xcc;
constexpr size_t kFunctionsPerPiece = 256;

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

std::vector<elf::Function> by_address(std::span<const elf::Function> functions) {
  std::vector<elf::Function> sorted(functions.begin(), functions.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const elf::Function& a, const elf::Function& b) { return a.addr < b.addr; });
  return sorted;
}

// Bytes that two functions claim belong to the second.
std::span<const uint8_t> own_bytes(const Module& module, std::span<const elf::Function> sorted, size_t i) {
  FileAddr end = sorted[i].addr + sorted[i].size;
  if (i + 1 < sorted.size()) end = std::min(end, sorted[i + 1].addr);
  return module.file().bytes({sorted[i].addr, end});
}

}  // namespace

std::vector<x86::Insn> decode_all(std::span<const uint8_t> bytes, TargetAddr at) {
  std::vector<x86::Insn> insns;
  for_each_instruction(bytes, at, [&](const x86::Insn& insn) { insns.push_back(insn); });
  return insns;
}

std::vector<Point> every_instruction(const Module& module, std::span<const elf::Function> functions) {
  const std::vector<elf::Function> sorted = by_address(functions);
  std::vector<Point> points;
  for (size_t i = 0; i < sorted.size(); ++i) {
    const elf::Function& f = sorted[i];
    const auto bytes = own_bytes(module, sorted, i);
    const TargetAddr start = module.to_target(f.addr);
    std::vector<x86::Insn> insns = decode_all(bytes, start);
    drop_padding(insns, bytes, start);
    for (const x86::Insn& insn : insns)
      points.push_back({.addr = module.to_file(insn.addr), .is_entry = false, .function = f});
  }
  return points;
}

size_t count_instructions(const Module& module, std::span<const elf::Function> functions) {
  const std::vector<elf::Function> sorted = by_address(functions);
  std::atomic<size_t> count{0};
  parallel_pieces(sorted.size(), kFunctionsPerPiece, [&](size_t begin, size_t end) {
    size_t mine = 0;
    for (size_t i = begin; i < end; ++i)
      for_each_instruction(own_bytes(module, sorted, i), module.to_target(sorted[i].addr),
                           [&](const x86::Insn&) { ++mine; });
    count += mine;
  });
  return count;
}

}  // namespace blip::probe
