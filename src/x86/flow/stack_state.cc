// SPDX-License-Identifier: MIT
#include "x86/flow/stack_state.h"

#include <algorithm>

namespace blip::x86 {
namespace {

constexpr int64_t kFarthest = 1 << 30;  // frames are smaller

StackValue moved(StackValue value, int64_t by) {
  if (!value.known() || by > kFarthest || by < -kFarthest) return {};
  const int64_t offset = value.offset + by;
  if (offset > kFarthest || offset < -kFarthest) return {};
  return {value.base, static_cast<int32_t>(offset)};
}

}  // namespace

StackValue StackState::load(StackValue at) const {
  if (!at.known()) return {};
  const auto slot = std::find_if(slots_.begin(), slots_.end(),
                                 [&](const Slot& s) { return s.value.known() && s.at == at; });
  return slot != slots_.end() ? slot->value : StackValue{};
}

void StackState::store(StackValue at, StackValue value) {
  if (!at.known()) return;
  for (Slot& slot : slots_)
    if (slot.at == at) slot = {};
  if (!value.known()) return;
  for (Slot& slot : slots_) {
    if (slot.value.known()) continue;
    slot = {at, value};
    return;
  }
}

void StackState::pop(uint8_t reg, uint8_t size) {
  const StackValue value = load(get(kRsp));
  set(kRsp, moved(get(kRsp), size));
  if (reg != kNoRegister) set(reg, value);
}

void StackState::apply(const StackEffect& effect, uint8_t aligned_base) {
  for (uint8_t reg = 0; reg < 16; ++reg)
    if (effect.clobbered >> reg & 1) set(reg, {});
  switch (effect.kind) {
    case StackEffect::Kind::kNone:
      return;
    case StackEffect::Kind::kCopy:
      return set(effect.reg, moved(get(effect.base), effect.offset));
    case StackEffect::Kind::kAlign:
      return set(effect.reg,
                 get(effect.reg).known() && aligned_base != 0 ? StackValue{aligned_base, 0} : StackValue{});
    case StackEffect::Kind::kPush: {
      const StackValue value = effect.reg != kNoRegister ? get(effect.reg) : StackValue{};
      set(kRsp, moved(get(kRsp), -int64_t{effect.size}));
      return store(get(kRsp), value);
    }
    case StackEffect::Kind::kPop:
      return pop(effect.reg, effect.size);
    case StackEffect::Kind::kLeave:
      set(kRsp, get(kRbp));
      return pop(kRbp, effect.size);
    case StackEffect::Kind::kStore:
      return store(moved(get(effect.base), effect.offset), get(effect.reg));
    case StackEffect::Kind::kLoad:
      return set(effect.reg, load(moved(get(effect.base), effect.offset)));
  }
}

bool StackState::merge(const StackState& other) {
  bool changed = false;
  for (size_t i = 0; i < registers_.size(); ++i) {
    if (!registers_[i].known() || registers_[i] == other.registers_[i]) continue;
    registers_[i] = {};
    changed = true;
  }
  for (Slot& slot : slots_) {
    if (!slot.value.known() || other.load(slot.at) == slot.value) continue;
    slot = {};
    changed = true;
  }
  return changed;
}

}  // namespace blip::x86
