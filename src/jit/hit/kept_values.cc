// SPDX-License-Identifier: MIT
#include "jit/hit/kept_values.h"

#include "abi/shadow.h"
#include "jit/emit/kept_block.h"

namespace blip::jit {

using namespace asmjit::x86;  // NOLINT: register names

static_assert(abi::kMaxKept == script::kMaxEntryValues);

bool keeps_by_ranges(const Action& action, const ProcessEnvironment& env) {
  const HitNeeds needs = output_needs(action.hit);
  return env.rseq && env.geometry.ranges && needs.reads_far && !needs.calls;
}

KeepCode::KeepCode(const Emission& emission)
    : a_(emission.code.assembler()),
      emission_(emission),
      reads_(emission, keeps_by_ranges(emission.action, emission.env)) {}

void KeepCode::hot() {
  reads_.hot([&](HitCode& code) { emit_values(code); });
}

void KeepCode::cold() {
  reads_.cold([&](HitCode& code) { emit_values(code); });
}

void KeepCode::emit_check() {
  emit_sign_kept(a_, emission_.env, static_cast<uint32_t>(emission_.action.hit.outputs.size()));
}

void KeepCode::emit_values(HitCode& code) {
  emit_no_kept_faults(a_, emission_.env);
  for (size_t i = 0; i < emission_.action.hit.outputs.size(); ++i) emit_value(code, i);
}

void KeepCode::emit_value(HitCode& code, size_t index) {
  const uint32_t node = emission_.action.hit.outputs[index].node;
  asmjit::Label fault = a_.newLabel(), done = a_.newLabel();
  code.set_fault(fault);
  code.value(node);
  if (code.facts(node).may_fault) {
    a_.jmp(done);
    a_.bind(fault);
    emit_kept_fault(a_, emission_.env, index);
    a_.xor_(eax, eax);
    a_.bind(done);
  }
  emit_keep(a_, emission_.env, index);
}

}  // namespace blip::jit
