// SPDX-License-Identifier: MIT
// The part of a pad that writes a record.
#pragma once

#include <optional>

#include "jit/emit/emitter.h"
#include "jit/emit/section.h"
#include "jit/field_stores.h"
#include "jit/hit/hit_outputs.h"

namespace blip::jit {

class RecordEmitter final : public ActionEmitter {
 public:
  explicit RecordEmitter(const Emission& emission);

  void hot(asmjit::Label done) override;
  void cold(asmjit::Label done) override;

 private:
  void emit_stack(asmjit::Label done);
  void emit_publish();
  void emit_commit();

  FieldStores fields_;
  HitOutputs outputs_;
  std::optional<Section> section_;
  asmjit::Label restart_, slow_, slow_inside_, no_room_, other_process_;
};

}  // namespace blip::jit
