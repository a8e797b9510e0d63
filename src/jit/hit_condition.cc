// SPDX-License-Identifier: MIT
#include "jit/hit_condition.h"

#include "jit/shadow_code.h"

namespace blip::jit {

using namespace asmjit::x86;  // NOLINT: register names

namespace {

// Falls through if it holds; a fault is as good as 0.
void emit_condition(HitCode& code, Assembler& a, uint32_t condition, asmjit::Label fails) {
  asmjit::Label passes = a.newLabel();
  code.set_fault(fails);
  code.branch(condition, passes, fails, true);
  a.bind(passes);
}

bool is_direct(const Emission& emission, const Frame& frame) {
  TextPool none;
  const Emission in_frame{emission.code, emission.env, emission.stubs, frame, emission.program};
  return HitCode(in_frame, HitWay::kCalls, none).is_direct(emission.program.hit.condition);
}

// Nothing at all where the comparison needs no register and nobody needs the flags.
Frame early_frame(const Emission& emission, Frame::Needs needs, uint16_t wanted) {
  const bool saves_flags = needs.flags_live |= needs.flags_recorded;  // the record wants them later
  if (!saves_flags && is_direct(emission, Frame({}))) return Frame({});
  const uint16_t flags_register = needs.flags_live ? reg_bit(Gp::kIdAx) : 0;
  needs.save = flags_register & wanted;
  if (saves_flags && is_direct(emission, Frame(needs))) return Frame(needs);
  const HitNeeds hit = condition_needs(emission.program.hit);
  needs.save = static_cast<uint16_t>((flags_register | hit.registers) & wanted);
  needs.words = hit.words;
  return Frame(needs);
}

}  // namespace

void HitConditionEmitter::hot(asmjit::Label done) {
  const bool is_measured = mentions(program_.filter, FilterField::kLatency);
  if (!is_measured && mentions(program_.hit, script::Op::kLatency)) emit_latency(a_);
  if (program_.hit.condition != script::kNone) {
    HitCode code(emission_, HitWay::kCalls, texts_);
    emit_condition(code, a_, program_.hit.condition, done);
  }
  body_->hot(done);
}

void HitConditionEmitter::cold(asmjit::Label done) {
  texts_.emit(a_);
  body_->cold(done);
}

EarlyCondition::EarlyCondition(const Emission& emission, const Frame::Needs& needs, uint16_t wanted)
    : emission_{emission.code, emission.env, emission.stubs, early_frame(emission, needs, wanted),
                emission.program},
      fails_(emission.code.assembler().newLabel()) {}

void EarlyCondition::hot(asmjit::Label stays) {
  auto& a = emission_.code.assembler();
  HitCode code(emission_, HitWay::kCalls, texts_);
  emission_.frame.emit_save(a);
  emit_condition(code, a, emission_.program.hit.condition, emission_.frame.empty() ? stays : fails_);
  emission_.frame.emit_restore(a);
}

void EarlyCondition::cold(asmjit::Label stays) {
  auto& a = emission_.code.assembler();
  if (!emission_.frame.empty()) {
    a.bind(fails_);
    emission_.frame.emit_restore(a);
    a.jmp(stays);
  }
  texts_.emit(a);
}

}  // namespace blip::jit
