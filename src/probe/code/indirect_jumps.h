// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <map>
#include <optional>

#include "base/addr.h"
#include "probe/code/function_parts.h"
#include "probe/code/module_flow.h"
#include "x86/flow/stack_depth.h"
#include "x86/flow/switch_jump.h"

namespace blip::probe {

// Where the indirect jumps of one function lead.
class IndirectJumps {
 public:
  // A jump stays in the function, leaves it for good, or nobody can tell.
  enum class Verdict { kStays, kTail, kUnclear };

  IndirectJumps(const ModuleFlow& flow, const FunctionParts& parts) : flow_(flow), parts_(parts) {}

  // The parts have been decoded again: forgets verdicts.
  void begin() { verdicts_.clear(); }
  // Judges the jump at instruction i, and keeps the verdict.
  Verdict judge(size_t i, const x86::StackDepth& depth);
  // The verdict that was kept, or one for this depth.
  Verdict verdict(size_t i, const x86::StackDepth& depth);
  const x86::JumpSource& source_of(size_t i);
  // A jump stays in the function, but not all of its labels are known.
  bool lead_to_unknown_labels();

 private:
  Verdict find_verdict(size_t i, const x86::StackDepth& depth);
  Verdict judge_label(FileAddr label) const;
  Verdict judge_in_leaf(size_t i);
  bool is_behind_epilogue(size_t i) const;
  std::optional<bool> tables_lead_inside(const x86::JumpSource& source) const;

  const ModuleFlow& flow_;
  const FunctionParts& parts_;
  std::map<size_t, Verdict> verdicts_;
  std::map<TargetAddr, x86::JumpSource> sources_;
};

}  // namespace blip::probe
