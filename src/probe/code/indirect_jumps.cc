// SPDX-License-Identifier: MIT
#include "probe/code/indirect_jumps.h"

#include <algorithm>
#include <vector>

#include "probe/code/frame_depth.h"

namespace blip::probe {

using x86::Flow;
using x86::FlowInsn;
using x86::JumpSource;
using x86::StackDepth;
using Verdict = IndirectJumps::Verdict;

namespace {

constexpr size_t kLongestEpilogue = 24;  // instructions

}  // namespace

const JumpSource& IndirectJumps::source_of(size_t i) {
  const TargetAddr at = parts_.code().insns[i].insn.addr;
  const auto known = sources_.find(at);
  if (known != sources_.end()) return known->second;
  return sources_[at] = x86::jump_source(parts_.code(), i);
}

Verdict IndirectJumps::judge(size_t i, const StackDepth& depth) {
  return verdicts_[i] = find_verdict(i, depth);
}

Verdict IndirectJumps::verdict(size_t i, const StackDepth& depth) {
  const auto known = verdicts_.find(i);
  return known != verdicts_.end() ? known->second : find_verdict(i, depth);
}

bool IndirectJumps::lead_to_unknown_labels() {
  return std::any_of(verdicts_.begin(), verdicts_.end(), [&](const auto& jump) {
    return jump.second == Verdict::kStays && !tables_lead_inside(source_of(jump.first));
  });
}

Verdict IndirectJumps::find_verdict(size_t i, const StackDepth& depth) {
  const FlowInsn& insn = parts_.code().insns[i];
  const JumpSource& source = source_of(i);
  const StackDepth agreed = agreed_depth(insn, depth);
  if (source.kind == JumpSource::Kind::kFixed) return agreed.is(0) ? Verdict::kTail : Verdict::kUnclear;
  if (is_in_frame(insn, depth)) return Verdict::kStays;
  if (!agreed.is(0)) return Verdict::kUnclear;
  if (source.notrack) return Verdict::kStays;
  if (const auto inside = tables_lead_inside(source)) return *inside ? Verdict::kStays : Verdict::kTail;
  if (source.kind == JumpSource::Kind::kLabel) return judge_label(parts_.file_address(source.tables.front()));
  if (!parts_.has_labels() || is_behind_epilogue(i)) return Verdict::kTail;
  return source.kind == JumpSource::Kind::kDistances ? Verdict::kStays : judge_in_leaf(i);
}

Verdict IndirectJumps::judge_label(FileAddr label) const {
  if (parts_.part_at(label)) return Verdict::kStays;
  const elf::Function* piece = flow_.pieces.at(label);
  return piece && flow_.pieces.is_entry(*piece, label) ? Verdict::kTail : Verdict::kUnclear;
}

// The frame has just been taken down: what follows is the end. A switch before the frame is made has none.
bool IndirectJumps::is_behind_epilogue(size_t i) const {
  const std::vector<FlowInsn>& insns = parts_.code().insns;
  for (size_t k = i; k-- > 0 && i - k < kLongestEpilogue && !insns[k].insn.ends_flow();) {
    const x86::StackEffect& effect = insns[k].effect;
    const bool adds = effect.kind == x86::StackEffect::Kind::kCopy && effect.reg == x86::kRsp &&
                      effect.base == x86::kRsp && effect.offset > 0;
    if (adds || effect.kind == x86::StackEffect::Kind::kPop || effect.kind == x86::StackEffect::Kind::kLeave)
      return true;
  }
  return false;
}

// No frame, no table, but there are labels: of another jump, which is in a frame or has a table, or of this.
Verdict IndirectJumps::judge_in_leaf(size_t i) {
  const std::vector<FlowInsn>& insns = parts_.code().insns;
  bool others = false;
  for (size_t k = 0; k < insns.size(); ++k) {
    if (k == i || insns[k].insn.flow != Flow::kIndirectJump || insns[k].insn.rip_relative) continue;
    others |= tables_lead_inside(source_of(k)) == true || hint_is_frame(insns[k].hint);
  }
  return others ? Verdict::kTail : Verdict::kUnclear;
}

std::optional<bool> IndirectJumps::tables_lead_inside(const JumpSource& source) const {
  std::optional<bool> inside;
  if (source.kind == JumpSource::Kind::kLabel) return inside;
  for (const TargetAddr table : source.tables) {
    const std::vector<FileAddr> entries = flow_.targets().entries_of(source.kind, table);
    if (entries.empty()) continue;
    const FileAddr first = entries.front();
    const bool here = parts_.part_at(first) && first != parts_.function().addr;
    const elf::Function* piece = flow_.pieces.at(first);
    const bool in_part = piece && (piece->is_cold || first != piece->addr);
    if (inside && *inside != (here || in_part)) return std::nullopt;
    inside = here || in_part;
  }
  return inside;
}

}  // namespace blip::probe
