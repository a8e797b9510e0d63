// SPDX-License-Identifier: MIT
#include "probe/code/function_parts.h"

#include <algorithm>

#include "x86/flow/switch_jump.h"

namespace blip::probe {

using x86::Flow;
using x86::FlowInsn;
using x86::JumpSource;

void FunctionParts::take_in(const elf::Function& piece, bool is_own) { parts_.push_back({piece, is_own}); }

uint64_t FunctionParts::size() const {
  uint64_t sum = 0;
  for (const Part& part : parts_) sum += part.piece.size;
  return sum;
}

const FunctionParts::Part* FunctionParts::find(FileAddr a) const {
  const auto part =
      std::find_if(parts_.begin(), parts_.end(), [&](const Part& p) { return p.piece.range().contains(a); });
  return part != parts_.end() ? &*part : nullptr;
}

const elf::Function* FunctionParts::part_at(FileAddr a) const {
  const Part* part = find(a);
  return part ? &part->piece : nullptr;
}

bool FunctionParts::is_own(TargetAddr a) const {
  const Part* part = find(file_address(a));
  return part && part->is_own;
}

void FunctionParts::decode() {
  code_ = {};
  for (const Part& part : parts_) {
    std::vector<FlowInsn> insns = flow_.pieces.decode(part.piece);
    if (code_.insns.empty())
      code_.insns = std::move(insns);
    else
      code_.insns.insert(code_.insns.end(), insns.begin(), insns.end());
  }
  std::sort(code_.insns.begin(), code_.insns.end(),
            [](const FlowInsn& a, const FlowInsn& b) { return a.insn.addr < b.insn.addr; });
  const auto same = [](const FlowInsn& a, const FlowInsn& b) { return a.insn.addr == b.insn.addr; };
  code_.insns.erase(std::unique(code_.insns.begin(), code_.insns.end(), same), code_.insns.end());
  find_labels();
}

// Only a function with an indirect jump needs them.
void FunctionParts::find_labels() {
  const bool jumps = std::any_of(code_.insns.begin(), code_.insns.end(), [](const FlowInsn& i) {
    return i.insn.flow == Flow::kIndirectJump && !i.insn.rip_relative;
  });
  std::vector<TargetAddr> labels;
  for (const Part& part : parts_) {
    for (const FileAddr a : flow_.targets().landing_pads_in(part.piece.range()))
      code_.landing_pads.push_back(flow_.module.to_target(a));
    if (!jumps) continue;
    for (const FileAddr a : flow_.targets().labels_in(part.piece.range()))
      labels.push_back(flow_.module.to_target(a));
  }
  if (jumps) add_labels_taken(labels);
  has_labels_ = !labels.empty();
  for (const Part& part : parts_)  // entered by a switch, maybe
    if (part.piece.addr != function_.addr) labels.push_back(flow_.module.to_target(part.piece.addr));
  std::sort(labels.begin(), labels.end());
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  code_.labels = std::move(labels);
}

// Labels whose addresses the function takes, and the cases of tables it takes the address of.
void FunctionParts::add_labels_taken(std::vector<TargetAddr>& labels) const {
  const bool absolute = !flow_.module.file().is_position_independent();
  const auto is_inside = [&](FileAddr a) { return part_at(a) && a != function_.addr; };
  for (const FlowInsn& i : code_.insns) {
    if (const auto label = absolute ? x86::immediate_address(i) : std::nullopt)
      if (is_inside(file_address(*label))) labels.push_back(*label);
    if (!i.insn.lea_width || !i.insn.rip_relative) continue;
    const FileAddr taken = file_address(i.insn.rip_target);
    if (flow_.module.file().is_code(taken)) {
      if (is_inside(taken)) labels.push_back(i.insn.rip_target);
      continue;
    }
    for (const FileAddr a : flow_.targets().entries_of(JumpSource::Kind::kDistances, i.insn.rip_target)) {
      if (!part_at(a)) break;
      labels.push_back(flow_.module.to_target(a));
    }
  }
}

}  // namespace blip::probe
