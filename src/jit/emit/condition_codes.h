// SPDX-License-Identifier: MIT
// The sixteen conditions of the flags, by their number in the encoding; the lowest bit turns one around.
#pragma once

#include <cstdint>

#include "jit/emit/assembler.h"

namespace blip::jit {

enum class Cc : uint8_t {
  kBelow = 2,
  kAboveEqual = 3,
  kEqual = 4,
  kNotEqual = 5,
  kBelowEqual = 6,
  kAbove = 7,
  kLess = 12,
  kGreaterEqual = 13,
  kLessEqual = 14,
  kGreater = 15,
};

inline constexpr asmjit::InstId kJumps[] = {
    asmjit::x86::Inst::kIdJo, asmjit::x86::Inst::kIdJno, asmjit::x86::Inst::kIdJb,  asmjit::x86::Inst::kIdJae,
    asmjit::x86::Inst::kIdJe, asmjit::x86::Inst::kIdJne, asmjit::x86::Inst::kIdJbe, asmjit::x86::Inst::kIdJa,
    asmjit::x86::Inst::kIdJs, asmjit::x86::Inst::kIdJns, asmjit::x86::Inst::kIdJp,  asmjit::x86::Inst::kIdJnp,
    asmjit::x86::Inst::kIdJl, asmjit::x86::Inst::kIdJge, asmjit::x86::Inst::kIdJle, asmjit::x86::Inst::kIdJg};
inline constexpr asmjit::InstId kSets[] = {
    asmjit::x86::Inst::kIdSeto,  asmjit::x86::Inst::kIdSetno, asmjit::x86::Inst::kIdSetb,
    asmjit::x86::Inst::kIdSetae, asmjit::x86::Inst::kIdSete,  asmjit::x86::Inst::kIdSetne,
    asmjit::x86::Inst::kIdSetbe, asmjit::x86::Inst::kIdSeta,  asmjit::x86::Inst::kIdSets,
    asmjit::x86::Inst::kIdSetns, asmjit::x86::Inst::kIdSetp,  asmjit::x86::Inst::kIdSetnp,
    asmjit::x86::Inst::kIdSetl,  asmjit::x86::Inst::kIdSetge, asmjit::x86::Inst::kIdSetle,
    asmjit::x86::Inst::kIdSetg};

constexpr Cc opposite(Cc cc) { return static_cast<Cc>(static_cast<uint8_t>(cc) ^ 1); }
// With its operands exchanged.
constexpr Cc mirrored(Cc cc) {
  switch (cc) {
    case Cc::kBelow:
      return Cc::kAbove;
    case Cc::kAboveEqual:
      return Cc::kBelowEqual;
    case Cc::kBelowEqual:
      return Cc::kAboveEqual;
    case Cc::kAbove:
      return Cc::kBelow;
    case Cc::kLess:
      return Cc::kGreater;
    case Cc::kGreaterEqual:
      return Cc::kLessEqual;
    case Cc::kLessEqual:
      return Cc::kGreaterEqual;
    case Cc::kGreater:
      return Cc::kLess;
    default:
      return cc;
  }
}

inline void jump_if(asmjit::x86::Assembler& a, Cc cc, asmjit::Label to) {
  a.emit(kJumps[static_cast<uint8_t>(cc)], to);
}
inline void set_if(asmjit::x86::Assembler& a, Cc cc, asmjit::x86::Gp to) {
  a.emit(kSets[static_cast<uint8_t>(cc)], to);
}

}  // namespace blip::jit
