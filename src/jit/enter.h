// SPDX-License-Identifier: MIT
#pragma once

#include "jit/emitter.h"

namespace blip::jit {

// Remembers that a call was entered, and when, beside the stack slot of its return address.
class EnterEmitter final : public ProgramEmitter {
 public:
  explicit EnterEmitter(const Emission& emission) : ProgramEmitter(emission), slow_(a_.newLabel()) {}

  void hot(asmjit::Label done) override;
  void cold(asmjit::Label done) override;

 private:
  asmjit::Label slow_;
};

}  // namespace blip::jit
