// SPDX-License-Identifier: MIT
#pragma once

#include "jit/emitter.h"

namespace blip::jit {

// Runs another program at the exit of a call whose entry was seen, with rsi = its abi::ShadowFrame.
class ReturnEmitter final : public ProgramEmitter {
 public:
  ReturnEmitter(const Emission& emission, std::unique_ptr<ProgramEmitter> body);

  void hot(asmjit::Label done) override;
  void cold(asmjit::Label done) override;

 private:
  std::unique_ptr<ProgramEmitter> body_;
  asmjit::Label find_, found_, over_, leave_;
};

}  // namespace blip::jit
