// SPDX-License-Identifier: MIT
// Computes at the entry of a call what is kept for its return: abi::KeptValues.
#pragma once

#include "jit/hit/hit_code.h"
#include "jit/hit/section_reads.h"

namespace blip::jit {

// At an entry, with rsi = the call's abi::ShadowFrame: the outputs of the program, all of them values, into
// the call's block.
class KeepCode {
 public:
  explicit KeepCode(const Emission& emission);

  void hot();
  // Once the frame is whole: they are its own. Clobbers rax, rcx.
  void emit_check();
  void cold();

 private:
  void emit_values(HitCode& code);
  void emit_value(HitCode& code, size_t index);

  asmjit::x86::Assembler& a_;
  Emission emission_;
  SectionReads reads_;
};

bool keeps_by_ranges(const Action& action, const ProcessEnvironment& env);

inline constexpr uint64_t kMaxKeepCode = 192;       // around the values
inline constexpr uint64_t kMaxKeepValueCode = 128;  // for each of them, with its part of the check

}  // namespace blip::jit
