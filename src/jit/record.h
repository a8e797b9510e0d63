// SPDX-License-Identifier: MIT
// The part of a pad that writes a record.
#pragma once

#include "jit/environment.h"
#include "jit/frame.h"
#include "jit/program.h"
#include "jit/section.h"

namespace blip::jit {

// Emits in two pieces, so that the hot path runs straight through: hot() falls through to `done`,
// which is the frame's restore, cold() goes behind the pad's last jump and returns to `done`.
class RecordEmitter {
 public:
  RecordEmitter(CodeBuffer& code, const Environment& env, const AreaStubs& stubs, const Frame& frame,
                const Program& program);

  void hot(asmjit::Label done);
  void cold(asmjit::Label done);

 private:
  enum class Path { kRseqRing, kSharedRing };

  void emit_field(const Field& field, Path path);
  void emit_tid(Path path);

  asmjit::x86::Assembler& a_;
  const Environment& env_;
  const AreaStubs& stubs_;
  Frame frame_;
  const Program& program_;
  std::optional<Section> section_;
  asmjit::Label restart_, slow_, slow_inside_, no_room_, other_process_;
};

}  // namespace blip::jit
