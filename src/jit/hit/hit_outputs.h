// SPDX-License-Identifier: MIT
// Outputs of a program into a record.
#pragma once

#include "jit/hit/hit_code.h"

namespace blip::jit {

class HitOutputs {
 public:
  explicit HitOutputs(const Emission& emission);

  bool empty() const { return hit_.outputs.empty(); }
  // rdx = the record, whose header and fields are stored: the outputs and the hit word follow. Afterwards
  // record() is the record, ring() what rcx was (in a section), and rax the size if it is not fixed.
  void emit_calls();
  // In a section, with `elsewhere` for what cannot be read there.
  void emit_section(asmjit::Label elsewhere);
  // Before the section may be entered.
  void begin_tries() {
    if (uses_ranges_) ranges_.begin_tries();
  }
  // Right before it, each time: RangeReads::begin().
  void begin_section() {
    if (uses_ranges_) ranges_.begin();
  }
  // First in it: RangeReads::enter().
  void enter_section(asmjit::Label elsewhere) {
    if (uses_ranges_) ranges_.enter(elsewhere);
  }
  // Outside of it: `again` enters it once more.
  void emit_misses(Section& section, asmjit::Label again, asmjit::Label give_up) {
    if (uses_ranges_) ranges_.cold(section, again, give_up);
  }
  // Constants of the code; outside the flow of control.
  void emit_texts() { texts_.emit(a_); }

  bool is_dynamic() const { return is_dynamic_; }
  asmjit::x86::Gp record() const;
  asmjit::x86::Gp ring() const;

 private:
  void emit(HitCode& code);
  void emit_value(HitCode& code, size_t index);
  void emit_bytes(HitCode& code, size_t index);
  void emit_bytes_here(HitCode& code, size_t index);
  void emit_string(HitCode& code, size_t index);
  void emit_string_here(HitCode& code, size_t index);
  void emit_sequence(HitCode& code, size_t index);
  void emit_collected(HitCode& code, size_t index);
  std::string table_of(const script::Output& output) const;
  void emit_elements(HitCode& code, const asmjit::x86::Mem& length);
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
  bool uses_ranges_;
  TextPool texts_;
  RangeReads ranges_;
};

}  // namespace blip::jit
