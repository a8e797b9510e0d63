// SPDX-License-Identifier: MIT
// The part of a pad that only counts.
#pragma once

#include "jit/environment.h"
#include "jit/program.h"
#include "jit/section.h"

namespace blip::jit {

// hot() falls through to `done`, the frame's restore; cold() goes behind the pad's last jump and returns to
// `done`.
class CountEmitter {
 public:
  CountEmitter(CodeBuffer& code, const Environment& env, const Program& program);

  void hot(asmjit::Label done);
  void cold(asmjit::Label done);

 private:
  asmjit::x86::Mem counter(abi::CounterKind kind, uint32_t row) const;

  asmjit::x86::Assembler& a_;
  const Environment& env_;
  const Program& program_;
  std::optional<Section> section_;
  asmjit::Label slow_, slow_inside_;
};

}  // namespace blip::jit
