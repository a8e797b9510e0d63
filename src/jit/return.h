// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <vector>

#include "jit/emit/emitter.h"

namespace blip::jit {

// Runs actions at the exit of a call whose entry was seen, one after the other, with rsi = its
// abi::ShadowFrame.
class ReturnEmitter final : public ActionEmitter {
 public:
  // The code for one of the actions.
  struct Body {
    std::unique_ptr<ActionEmitter> emitter;
    const Action& action;
    asmjit::Label over;
  };

  // `emission`: of the first.
  ReturnEmitter(const Emission& emission, std::vector<Body> bodies);

  void hot(asmjit::Label done) override;
  void cold(asmjit::Label done) override;

 private:
  void emit_bodies();

  std::vector<Body> bodies_;
  asmjit::Label find_, found_, leave_;
};

}  // namespace blip::jit
