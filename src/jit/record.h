// SPDX-License-Identifier: MIT
// The part of a pad that writes a record.
#pragma once

#include <optional>

#include "jit/emit/emitter.h"
#include "jit/emit/section.h"
#include "jit/hit/hit_outputs.h"

namespace blip::jit {

class RecordEmitter final : public ProgramEmitter {
 public:
  explicit RecordEmitter(const Emission& emission);

  void hot(asmjit::Label done) override;
  void cold(asmjit::Label done) override;

 private:
  enum class Path { kRseqRing, kSharedRing };

  void emit_stack(asmjit::Label done);
  void emit_field(const Field& field, Path path);
  void emit_tid(Path path);
  void emit_publish();
  void emit_commit();

  HitOutputs outputs_;
  std::optional<Section> section_;
  asmjit::Label restart_, slow_, slow_inside_, no_room_, other_process_;
};

}  // namespace blip::jit
