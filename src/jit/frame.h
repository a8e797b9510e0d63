// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "jit/assembler.h"

namespace blip::jit {

// What a pad keeps on the target's stack while its program runs. From high to low:
//
//   original rsp ->
//     128 bytes       only where the red zone may hold data
//     rax             these three only if the program uses them and they are live or recorded
//     flags           only where they are live (lahf + seto al, cheaper than pushf) or recorded (pushf)
//     rcx
//     rdx
//     rsi             only in programs around calls
//   rsp ->
class Frame {
 public:
  struct Needs {
    bool skip_red_zone = false;
    bool flags_live = false;
    bool flags_recorded = false;
    bool save_rax = true;
    bool save_rcx = true;
    bool save_rdx = true;
    bool save_rsi = false;
  };

  explicit Frame(const Needs& needs) : needs_(needs) {}

  void emit_save(asmjit::x86::Assembler& a) const;
  void emit_restore(asmjit::x86::Assembler& a) const;
  // Original rsp - rsp.
  int32_t size() const;
  // Where a register's original value lies, as an offset from rsp; -1: still in the register.
  int32_t slot(uint8_t reg) const;
  // Where rflags lie, if recorded.
  int32_t flags_slot() const { return above_rcx(); }

 private:
  bool has_flags() const { return needs_.flags_live || needs_.flags_recorded; }
  int32_t rdx_slot() const { return needs_.save_rsi ? 8 : 0; }
  int32_t rcx_slot() const { return rdx_slot() + (needs_.save_rdx ? 8 : 0); }
  int32_t above_rcx() const { return rcx_slot() + (needs_.save_rcx ? 8 : 0); }
  int32_t above_flags() const { return above_rcx() + (has_flags() ? 8 : 0); }

  Needs needs_;
};

}  // namespace blip::jit
