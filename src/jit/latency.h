// SPDX-License-Identifier: MIT
// The part of a pad at a return that adds the call's latency to a histogram.
#pragma once

#include <optional>

#include "jit/emit/emitter.h"
#include "jit/emit/section.h"

namespace blip::jit {

// Inside a ReturnEmitter: rsi = the call's abi::ShadowFrame.
class LatencyEmitter final : public ActionEmitter {
 public:
  explicit LatencyEmitter(const Emission& emission);

  void hot(asmjit::Label done) override;
  void cold(asmjit::Label done) override;

 private:
  void emit_bucket();
  asmjit::x86::Mem total(size_t field) const;
  asmjit::x86::Mem bucket(uint32_t row) const;

  std::optional<Section> section_;
  asmjit::Label slow_, slow_inside_, aborted_;
};

}  // namespace blip::jit
