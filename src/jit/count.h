// SPDX-License-Identifier: MIT
// The part of a pad that only counts.
#pragma once

#include <optional>

#include "jit/emit/emitter.h"
#include "jit/emit/section.h"

namespace blip::jit {

class CountEmitter final : public ActionEmitter {
 public:
  explicit CountEmitter(const Emission& emission);

  void hot(asmjit::Label done) override;
  void cold(asmjit::Label done) override;

 private:
  asmjit::x86::Mem counter(abi::CounterKind kind, uint32_t row) const;

  std::optional<Section> section_;
  asmjit::Label slow_, slow_inside_;
};

}  // namespace blip::jit
