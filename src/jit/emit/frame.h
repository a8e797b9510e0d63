// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "jit/emit/assembler.h"
#include "jit/program/action.h"

namespace blip::jit {

// A pad keeps this on the target's stack while its action runs, from high to low:
//
//   original rsp ->
//     128 bytes       only where the red zone may hold data
//     rax             registers only if the action uses them and they are live or recorded
//     flags           only where they are live (lahf + seto al, cheaper than pushf) or recorded (pushf)
//     rcx rdx rsi rdi r8 r9 r10 r11
//     stack id        only where it is recorded
//     words           of the action's own
//   rsp ->
class Frame {
 public:
  struct Needs {
    bool skip_red_zone = false;
    bool flags_live = false;
    bool flags_recorded = false;
    uint16_t save = 0;   // registers, of those above
    uint32_t words = 0;  // room for values of the action's own
    bool stack_id = false;
  };

  explicit Frame(const Needs& needs) : needs_(needs) {}

  void emit_save(asmjit::x86::Assembler& a) const;
  void emit_restore(asmjit::x86::Assembler& a) const;
  bool empty() const { return size() == 0; }
  // Original rsp - rsp.
  int32_t size() const;
  // Returns where a register's original value lies, as an offset from rsp; -1 if it is still in the register.
  int32_t slot(uint8_t reg) const;
  // Returns where rflags lie, if recorded.
  int32_t flags_slot() const { return above_words() + 8 * saved_behind_flags(); }
  // Returns where the stack's id waits for the record.
  int32_t stack_id_slot() const { return word(needs_.words); }
  // The n-th word of the action's own.
  int32_t word(uint32_t n) const { return static_cast<int32_t>(8 * n); }
  uint32_t words() const { return needs_.words; }

 private:
  bool saves(uint32_t reg) const { return (needs_.save >> reg & 1) != 0; }
  bool has_flags() const { return needs_.flags_live || needs_.flags_recorded; }
  int32_t above_words() const { return word(needs_.words + needs_.stack_id); }
  int32_t saved_behind_flags() const;

  Needs needs_;
};

}  // namespace blip::jit
