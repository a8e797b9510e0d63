// SPDX-License-Identifier: MIT
#pragma once

#include "jit/hit/kept_values.h"

namespace blip::jit {

// Remembers that a call was entered, and when, beside the stack slot of its return address; and the values of
// the action, if it has any.
class EnterEmitter final : public ActionEmitter {
 public:
  explicit EnterEmitter(const Emission& emission)
      : ActionEmitter(emission), slow_(a_.newLabel()), keep_here_(a_.newLabel()) {
    if (!action_.hit.outputs.empty()) keep_.emplace(emission);
  }

  void hot(asmjit::Label done) override;
  void cold(asmjit::Label done) override;

 private:
  void emit_fast();
  void emit_stamp(asmjit::x86::Gp frame);

  std::optional<KeepCode> keep_;
  asmjit::Label slow_, keep_here_;
};

}  // namespace blip::jit
