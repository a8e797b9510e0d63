// SPDX-License-Identifier: MIT
#include "x86/flow/stack_depth.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "x86/flow/stack_state.h"

namespace blip::x86 {

std::optional<size_t> FunctionCode::index_of(TargetAddr a) const {
  const auto found = std::lower_bound(insns.begin(), insns.end(), a,
                                      [](const FlowInsn& i, TargetAddr at) { return i.insn.addr < at; });
  if (found == insns.end() || found->insn.addr != a) return std::nullopt;
  return static_cast<size_t>(found - insns.begin());
}

bool ends_the_thread(const FunctionCode& code, size_t i) {
  constexpr std::array<uint8_t, 5> kExit{0xb8, 60, 0, 0, 0}, kExitGroup{0xb8, 231, 0, 0, 0};  // mov $n, %eax
  if (i == 0 || code.insns[i].insn.flow != Flow::kSyscall) return false;
  const auto before = code.insns[i - 1].bytes;
  return std::equal(before.begin(), before.end(), kExit.begin(), kExit.end()) ||
         std::equal(before.begin(), before.end(), kExitGroup.begin(), kExitGroup.end());
}

namespace {

class DepthFlow {
 public:
  DepthFlow(const FunctionCode& code, const StaysInside& inside)
      : code_(code), inside_(inside), states_(code.insns.size()), reached_(code.insns.size()) {}

  std::vector<StackDepth> run(TargetAddr start) {
    for (const TargetAddr pad : code_.landing_pads) arrive(pad, StackState());
    arrive(start, StackState::at_entry());
    while (!todo_.empty()) {
      const size_t i = todo_.back();
      todo_.pop_back();
      follow(i);
    }
    std::vector<StackDepth> depths(states_.size());
    for (size_t i = 0; i < states_.size(); ++i) depths[i] = depth_at(i);
    return depths;
  }

 private:
  void arrive(TargetAddr a, const StackState& state) {
    const auto i = code_.index_of(a);
    if (!i) return;
    if (!reached_[*i]) {
      reached_[*i] = true;
      states_[*i] = state;
    } else if (!states_[*i].merge(state)) {
      return;
    }
    todo_.push_back(*i);
  }

  // The state that was followed or, where that is unknown, the state that the unwind table gives.
  StackState known_at(size_t i) const {
    StackState state = states_[i];
    const StackHint& hint = code_.insns[i].hint;
    if (hint.base == StackHint::Base::kFromRsp && !state.get(kRsp).known())
      state.set(kRsp, {kEntryRsp, -hint.depth});
    if (hint.base == StackHint::Base::kFromRbp && !state.get(kRbp).known())
      state.set(kRbp, {kEntryRsp, -hint.depth});
    return state;
  }

  StackDepth depth_at(size_t i) const {
    if (!reached_[i]) return {};
    const StackValue rsp = known_at(i).get(kRsp);
    if (rsp.base != kEntryRsp) return {.reached = true};
    return {.reached = true, .known = true, .bytes = -rsp.offset};
  }

  uint8_t aligned_base(size_t i) {
    const auto entry = aligned_.find(i);
    if (entry != aligned_.end()) return entry->second;
    if (aligned_.size() >= 250) return 0;
    return aligned_[i] = static_cast<uint8_t>(kEntryRsp + 1 + aligned_.size());
  }

  bool comes_back(size_t i) const {
    if (i + 1 >= code_.insns.size()) return false;
    const StackHint &here = code_.insns[i].hint, &behind = code_.insns[i + 1].hint;
    const bool both = here.base != StackHint::Base::kNone && behind.base != StackHint::Base::kNone;
    return !both || here == behind;
  }

  void follow(size_t i) {
    const Insn& insn = code_.insns[i].insn;
    StackState state = known_at(i);
    const StackEffect& effect = code_.insns[i].effect;
    state.apply(effect, effect.kind == StackEffect::Kind::kAlign ? aligned_base(i) : uint8_t{0});
    const bool is_call = insn.flow == Flow::kCall || insn.flow == Flow::kIndirectCall;
    if (insn.target && insn.flow != Flow::kCall) arrive(*insn.target, state);
    if (insn.flow == Flow::kIndirectJump && inside_(i, depth_at(i)))
      for (const TargetAddr label : code_.labels) arrive(label, state);
    if (insn.ends_flow() || ends_the_thread(code_, i) || (is_call && !comes_back(i))) return;
    arrive(insn.end(), state);
  }

  const FunctionCode& code_;
  const StaysInside& inside_;
  std::vector<StackState> states_;  // before each instruction
  std::vector<bool> reached_;
  std::vector<size_t> todo_;
  std::unordered_map<size_t, uint8_t> aligned_;
};

}  // namespace

std::vector<StackDepth> stack_depths(const FunctionCode& code, TargetAddr start, const StaysInside& inside) {
  return DepthFlow(code, inside).run(start);
}

}  // namespace blip::x86
