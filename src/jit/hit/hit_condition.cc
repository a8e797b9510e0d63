// SPDX-License-Identifier: MIT
#include "jit/hit/hit_condition.h"

#include "jit/emit/kept_block.h"
#include "jit/emit/shadow_code.h"

namespace blip::jit {

using namespace asmjit::x86;  // NOLINT: register names

namespace {

bool is_direct(const Emission& emission, const Frame& frame) {
  const Emission in_frame{emission.code,  emission.env, emission.channel,
                          emission.stubs, frame,        emission.action};
  return HitOperands(in_frame).is_direct(emission.action.hit.condition);
}

// Nothing at all where the comparison needs no register and nobody needs the flags.
Frame early_frame(const Emission& emission, Frame::Needs needs, uint16_t wanted) {
  const bool saves_flags = needs.flags_live |= needs.flags_recorded;  // the record wants them later
  if (!saves_flags && is_direct(emission, Frame({}))) return Frame({});
  const uint16_t flags_register = needs.flags_live ? reg_bit(Gp::kIdAx) : 0;
  needs.save = flags_register & wanted;
  if (saves_flags && is_direct(emission, Frame(needs))) return Frame(needs);
  const HitNeeds hit = condition_needs(emission.action.hit);
  needs.save = static_cast<uint16_t>((flags_register | hit.registers) & wanted);
  needs.words = hit.words + (condition_uses_ranges(emission.action, emission.env) ? kRangeWords : 0);
  return Frame(needs);
}

}  // namespace

ConditionCode::ConditionCode(const Emission& emission)
    : a_(emission.code.assembler()),
      emission_(emission),
      reads_(emission, condition_uses_ranges(emission.action, emission.env)),
      fails_inside_(a_.newLabel()) {}

void ConditionCode::hot(asmjit::Label fails) {
  const asmjit::Label leaves = reads_.by_ranges() ? fails_inside_ : fails;
  reads_.hot([&](HitCode& code) { emit(code, leaves); });
}

void ConditionCode::emit(HitCode& code, asmjit::Label fails) {
  asmjit::Label passes = a_.newLabel();
  code.set_fault(fails);
  code.branch(emission_.action.hit.condition, passes, fails, true);
  a_.bind(passes);
}

void ConditionCode::cold(asmjit::Label fails) {
  if (reads_.by_ranges()) {
    a_.bind(fails_inside_);
    reads_.abandon();
    a_.jmp(fails);
  }
  reads_.cold([&](HitCode& code) { emit(code, fails); });
}

void HitConditionEmitter::hot(asmjit::Label done) {
  if (mentions(action_.hit, script::Op::kEntryValue)) emit_check_kept(a_, env_, action_.kept);
  if (has_latency_in_frame(action_) && !action_.latency_in_frame) emit_latency(a_);
  if (condition_) condition_->hot(done);
  body_->hot(done);
}

void HitConditionEmitter::cold(asmjit::Label done) {
  if (condition_) condition_->cold(done);
  body_->cold(done);
}

EarlyCondition::EarlyCondition(const Emission& emission, const Frame::Needs& needs, uint16_t wanted)
    : emission_{emission.code,
                emission.env,
                emission.channel,
                emission.stubs,
                early_frame(emission, needs, wanted),
                emission.action},
      condition_(emission_),
      fails_(emission.code.assembler().newLabel()) {}

void EarlyCondition::hot(asmjit::Label stays) {
  auto& a = emission_.code.assembler();
  emission_.frame.emit_save(a);
  condition_.hot(emission_.frame.empty() ? stays : fails_);
  emission_.frame.emit_restore(a);
}

void EarlyCondition::cold(asmjit::Label stays) {
  auto& a = emission_.code.assembler();
  if (!emission_.frame.empty()) {
    a.bind(fails_);
    emission_.frame.emit_restore(a);
    a.jmp(stays);
  }
  condition_.cold(emission_.frame.empty() ? stays : fails_);
}

}  // namespace blip::jit
