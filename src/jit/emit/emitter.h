// SPDX-License-Identifier: MIT
// The interface that all programs in pads have in common.
#pragma once

#include "jit/emit/frame.h"
#include "jit/program/environment.h"
#include "jit/program/program.h"

namespace blip::jit {

// The places into which a program is emitted; all of them outlive the emitter.
struct Emission {
  CodeBuffer& code;
  const Environment& env;
  const AreaStubs& stubs;
  Frame frame;
  const Program& program;
};

// Emits in two pieces, so that the hot path runs straight through: hot() falls through to `done`, which is
// the frame's restore, cold() goes behind the pad's last jump and returns to `done`.
class ProgramEmitter {
 public:
  explicit ProgramEmitter(const Emission& emission)
      : a_(emission.code.assembler()),
        env_(emission.env),
        stubs_(emission.stubs),
        frame_(emission.frame),
        program_(emission.program) {}
  virtual ~ProgramEmitter() = default;

  virtual void hot(asmjit::Label done) = 0;
  virtual void cold(asmjit::Label done) = 0;

 protected:
  asmjit::x86::Assembler& a_;
  const Environment& env_;
  const AreaStubs& stubs_;
  Frame frame_;
  const Program& program_;
};

}  // namespace blip::jit
