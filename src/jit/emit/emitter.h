// SPDX-License-Identifier: MIT
// The interface that all actions in pads have in common.
#pragma once

#include "jit/emit/frame.h"
#include "jit/program/action.h"
#include "jit/program/environment.h"

namespace blip::jit {

// The places into which an action is emitted; all of them outlive the emitter.
struct Emission {
  CodeBuffer& code;
  const ProcessEnvironment& env;
  const ChannelEnvironment& channel;  // the action's
  const AreaStubs& stubs;
  Frame frame;
  const Action& action;
};

// Emits in two pieces, so that the hot path runs straight through: hot() falls through to `done`, which is
// the frame's restore, cold() goes behind the pad's last jump and returns to `done`.
class ActionEmitter {
 public:
  explicit ActionEmitter(const Emission& emission)
      : a_(emission.code.assembler()),
        env_(emission.env),
        channel_(emission.channel),
        stubs_(emission.stubs),
        frame_(emission.frame),
        action_(emission.action) {}
  virtual ~ActionEmitter() = default;

  virtual void hot(asmjit::Label done) = 0;
  virtual void cold(asmjit::Label done) = 0;

 protected:
  asmjit::x86::Assembler& a_;
  const ProcessEnvironment& env_;
  const ChannelEnvironment& channel_;
  const AreaStubs& stubs_;
  Frame frame_;
  const Action& action_;
};

}  // namespace blip::jit
