// SPDX-License-Identifier: MIT
#include "probe/code/pieces.h"

#include <algorithm>

#include "probe/code/every_instruction.h"
#include "probe/code/functions.h"
#include "x86/operands.h"

namespace blip::probe {
namespace {

constexpr int64_t kReturnAddress = 8;  // between rsp at an entry and the canonical frame address
constexpr int64_t kLargestFrame = 1 << 30;
constexpr size_t kBytesPerInstruction = 4;

x86::StackHint hint_of(const elf::CfaRule& rule) {
  const bool sane = rule.offset >= -kLargestFrame && rule.offset <= kLargestFrame;
  const auto depth = sane ? static_cast<int32_t>(rule.offset - kReturnAddress) : 0;
  if (sane && rule.base == elf::CfaRule::Base::kRsp) return {x86::StackHint::Base::kFromRsp, depth};
  if (sane && rule.base == elf::CfaRule::Base::kRbp) return {x86::StackHint::Base::kFromRbp, depth};
  return {x86::StackHint::Base::kOther, 0};
}

// A table of one row, the one that holds at any entry, says nothing of code that moves rsp: assembly.
bool tells_nothing(const std::vector<elf::CfaRow>& rows) {
  return rows.size() == 1 && rows.front().rule == elf::CfaRule{elf::CfaRule::Base::kRsp, kReturnAddress};
}

x86::StackHint hint_in(const std::optional<elf::CfaTable::Rows>& frame, FileAddr address) {
  if (!frame || tells_nothing(frame->rows)) return {};
  const elf::CfaRow* row = elf::CfaTable::row_at(frame->rows, address);
  return row ? hint_of(row->rule) : x86::StackHint{};
}

}  // namespace

Pieces::Pieces(const Module& module) : module_(module), cfa_(module.file()) {
  if (auto all = all_functions(module)) all_ = std::move(*all);
  FileAddr highest;
  for (const elf::Function& f : all_) reach_.push_back(highest = std::max(highest, f.addr + f.size));
}

const elf::Function* Pieces::at(FileAddr address) const {
  const auto after = std::upper_bound(all_.begin(), all_.end(), address,
                                      [](FileAddr a, const elf::Function& f) { return a < f.addr; });
  for (auto i = static_cast<size_t>(after - all_.begin()); i-- > 0 && reach_[i] > address;)
    if (all_[i].range().contains(address)) return &all_[i];
  return nullptr;
}

bool Pieces::is_plt(FileAddr address) const {
  const elf::Section* section = module_.file().section_at(address);
  return section && section->name.starts_with(".plt");
}

std::optional<elf::Function> Pieces::padding_at(FileAddr address) const {
  constexpr uint64_t kMostPadding = 64;
  const auto next = std::upper_bound(all_.begin(), all_.end(), address,
                                     [](FileAddr a, const elf::Function& f) { return a < f.addr; });
  if (next == all_.end() || next->addr - address > kMostPadding) return std::nullopt;
  const auto insns = decode_all(module_.file().bytes({address, next->addr}), module_.to_target(address));
  uint64_t size = 0;
  for (const x86::Insn& insn : insns)
    if (insn.is_nop) size += insn.length;
  if (size != next->addr - address) return std::nullopt;
  return elf::Function{.addr = address, .size = size, .is_nameless = true};
}

bool Pieces::is_entry(const elf::Function& piece, FileAddr address) const {
  if (address == piece.addr) return true;
  const auto first = x86::decode(module_.file().bytes(piece.range()), module_.to_target(piece.addr));
  return first && first->is_endbr64 && module_.to_file(first->end()) == address;
}

x86::StackHint Pieces::hint_at(FileAddr address) const { return hint_in(cfa_.rows_at(address), address); }

// One frame is usually that of all instructions.
std::vector<x86::FlowInsn> Pieces::decode(const elf::Function& piece) const {
  const auto bytes = module_.file().bytes(piece.range());
  std::vector<x86::FlowInsn> code;
  code.reserve(bytes.size() / kBytesPerInstruction);
  std::optional<elf::CfaTable::Rows> frame;
  x86::Operands operands;
  for (uint64_t at = 0; at < bytes.size();) {
    const FileAddr address = piece.addr + at;
    const auto insn = x86::decode(bytes.subspan(at), module_.to_target(address), operands);
    if (insn && !(frame && frame->range.contains(address))) frame = cfa_.rows_at(address);
    if (insn)
      code.push_back(
          {*insn, bytes.subspan(at, insn->length), x86::stack_effect(operands), hint_in(frame, address)});
    at += insn ? insn->length : 1;
  }
  return code;
}

bool Pieces::begins_in_frame(const elf::Function& piece) const {
  const x86::StackHint hint = hint_at(piece.addr);
  using Base = x86::StackHint::Base;
  return hint.base == Base::kFromRbp || (hint.base == Base::kFromRsp && hint.depth != 0);
}

}  // namespace blip::probe
