// SPDX-License-Identifier: MIT
#include "jit/hit/section_reads.h"

#include "jit/emit/gate.h"

namespace blip::jit {

using namespace asmjit::x86;  // NOLINT: register names

SectionReads::SectionReads(const Emission& emission, bool by_ranges)
    : a_(emission.code.assembler()),
      emission_(emission),
      ranges_(emission),
      again_(a_.newLabel()),
      done_(a_.newLabel()),
      slow_(a_.newLabel()),
      slow_inside_(a_.newLabel()) {
  if (by_ranges) section_.emplace(emission.code, emission.env);
}

void SectionReads::hot(const Body& body) {
  if (!section_) {
    HitCode code(emission_, texts_);
    return body(code);
  }
  ranges_.begin_tries();
  a_.bind(again_);
  a_.mov(rcx, emission_.env.control.value);
  emit_gate_check(a_, slow_);
  ranges_.begin();
  section_->begin();
  emit_gate_check(a_, slow_inside_);
  ranges_.enter(slow_inside_);
  HitCode code(emission_, texts_, slow_inside_, &ranges_);
  body(code);
  section_->end();
  a_.bind(done_);
}

void SectionReads::cold(const Body& body) {
  if (section_) {
    ranges_.cold(*section_, again_, slow_);
    section_->abort_here();
    a_.bind(slow_inside_);
    section_->abandon();
    a_.bind(slow_);
    HitCode code(emission_, texts_);
    body(code);
    a_.jmp(done_);
  }
  texts_.emit(a_);
  if (section_) section_->emit_descriptor();
}

}  // namespace blip::jit
