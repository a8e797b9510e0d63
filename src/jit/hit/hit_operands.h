// SPDX-License-Identifier: MIT
// Operands that need no computing: constants, registers, flags, and memory that is known to be there. The code under
// the probe left them where `emission.frame` says; at returns, rsi is the call's frame.
#pragma once

#include <optional>

#include "jit/emit/condition_codes.h"
#include "jit/emit/emitter.h"

namespace blip::jit {

// The condition that holds after `cmp` if the comparison does.
Cc comparison(script::Op op, bool is_signed);
bool is_comparison(script::Op op);

// `to` = `from`, which is memory of that width, or a register of which that much counts.
void emit_extend(asmjit::x86::Assembler& a, asmjit::x86::Gp to, asmjit::Operand from, uint8_t width,
                 bool is_signed);

class HitOperands {
 public:
  explicit HitOperands(const Emission& emission);

  // For nodes that NodeFacts call simple. Changes no other register, and the stack from word `free_word` on.
  void load(asmjit::x86::Gp to, uint32_t at, uint32_t free_word) const;
  // Compares without a register, if that is possible: which condition holds then if the node is not 0.
  std::optional<Cc> emit_direct_comparison(uint32_t at) const;
  // True if a branch on the node needs no register at all.
  bool is_direct(uint32_t at) const;

 private:
  // What cmp takes for an operand as it is.
  struct Direct {
    asmjit::Operand operand;
    uint8_t width;
    bool is_signed;  // how it is extended
  };
  struct Comparison {
    asmjit::Operand left, right;
    Cc holds;
  };

  const script::Node& node(uint32_t at) const { return code_.nodes[at]; }
  void load_register(asmjit::x86::Gp to, uint8_t reg, uint8_t width, bool is_signed) const;
  void load_constant(asmjit::x86::Gp to, uint64_t value) const;
  void load_vector(asmjit::x86::Gp to, const script::Node& n, uint32_t free_word) const;
  std::optional<Direct> direct(uint32_t at) const;
  std::optional<Comparison> direct_comparison(uint32_t at) const;

  asmjit::x86::Assembler& a_;
  Emission emission_;
  const script::Code& code_;
};

}  // namespace blip::jit
