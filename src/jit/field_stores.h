// SPDX-License-Identifier: MIT
// Stores the fields of a record. rdx is the record, whose header is stored; rax is changed.
#pragma once

#include "jit/emit/emitter.h"

namespace blip::jit {

// The ring of this CPU, in a restartable sequence; or the ring that all CPUs share, where rcx = cpu | tid << 32.
enum class RecordPath { kRseqRing, kSharedRing };

class FieldStores {
 public:
  explicit FieldStores(const Emission& emission) : a_(emission.code.assembler()), emission_(emission) {}

  void emit(const Field& field, RecordPath path);

 private:
  void load_register(uint8_t reg);
  void load_tid(RecordPath path);
  void load_latency();

  asmjit::x86::Assembler& a_;
  Emission emission_;
};

}  // namespace blip::jit
