// SPDX-License-Identifier: MIT
// Outputs of a program into a record.
#pragma once

#include "jit/hit_code.h"

namespace blip::jit {

class HitOutputs {
 public:
  explicit HitOutputs(const Emission& emission);

  bool empty() const { return hit_.outputs.empty(); }
  // rdx = the record, whose header and fields are stored: the outputs and the hit word follow. Afterwards
  // record() is the record, ring() what rcx was (of kSection), and rax the size if it is not fixed.
  void emit(HitWay way, asmjit::Label elsewhere = {});
  // Constants of the code; outside the flow of control.
  void emit_texts() { texts_.emit(a_); }

  bool is_dynamic() const { return is_dynamic_; }
  asmjit::x86::Gp record() const;
  asmjit::x86::Gp ring() const;

 private:
  void emit_value(HitCode& code, size_t index);
  void emit_bytes(HitCode& code, size_t index);
  void emit_string(HitCode& code, size_t index);
  void emit_sequence(HitCode& code, size_t index);
  void emit_address(HitCode& code, uint32_t node);
  void add_length(size_t index);
  void emit_size();
  void mark_fault(size_t index);
  asmjit::x86::Mem place(size_t index, uint32_t size) const;

  asmjit::x86::Assembler& a_;
  Emission emission_;
  const script::HitProgram& hit_;
  bool is_dynamic_;
  bool is_light_;  // registers of the record stay where they are
  TextPool texts_;
};

}  // namespace blip::jit
