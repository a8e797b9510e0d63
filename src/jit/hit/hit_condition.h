// SPDX-License-Identifier: MIT
// Decides where an action's condition is looked at: before the pad has saved anything that the condition does
// not need, so that a hit that does not pass costs little more than the jumps. But a return is over whether it
// passes or not, so there it comes behind the call's frame.
#pragma once

#include <memory>
#include <optional>

#include "jit/hit/hit_code.h"
#include "jit/hit/section_reads.h"

namespace blip::jit {

// The condition itself.
class ConditionCode {
 public:
  explicit ConditionCode(const Emission& emission);

  // Falls through if it holds, else goes to `fails`; a fault is as good as 0.
  void hot(asmjit::Label fails);
  void cold(asmjit::Label fails);

 private:
  void emit(HitCode& code, asmjit::Label fails);

  asmjit::x86::Assembler& a_;
  Emission emission_;
  SectionReads reads_;
  asmjit::Label fails_inside_;
};

// The condition of a return: it stands around what happens there, with rsi = the call's abi::ShadowFrame.
class HitConditionEmitter final : public ActionEmitter {
 public:
  HitConditionEmitter(const Emission& emission, std::unique_ptr<ActionEmitter> body)
      : ActionEmitter(emission), body_(std::move(body)) {
    if (action_.hit.condition != script::kNone) condition_.emplace(emission);
  }

  void hot(asmjit::Label done) override;
  void cold(asmjit::Label done) override;

 private:
  std::unique_ptr<ActionEmitter> body_;
  std::optional<ConditionCode> condition_;
};

// The condition of other actions: it stands in front of everything, in a frame of its own.
class EarlyCondition {
 public:
  // `wanted`: registers that must stay; emission.frame is not used.
  EarlyCondition(const Emission& emission, const Frame::Needs& needs, uint16_t wanted);

  // Goes to `stays`, with all as it was, unless the condition holds.
  void hot(asmjit::Label stays);
  void cold(asmjit::Label stays);

 private:
  Emission emission_;
  ConditionCode condition_;
  asmjit::Label fails_;
};

}  // namespace blip::jit
