// SPDX-License-Identifier: MIT
#pragma once

#include "script/front/script.h"

namespace blip::script {

// What handlers in the text form of blocks print. Failures are warnings, and the script goes on.
class BlocksOutput final : public ScriptOutput {
 public:
  explicit BlocksOutput(const OutputContext& context) : context_(context) {}

  void emit(uint32_t format, std::span<const Argument> arguments) override;
  std::string sprint(uint32_t format, std::span<const Argument> arguments) override;
  // One line for each key, in the order of age: "NAME[KEY]: VALUE".
  void print(uint32_t map, const state::Key* key) override;
  Next told(size_t probe, const Outcome& outcome, uint64_t clock) override;
  void end() override {}

 private:
  const OutputContext context_;
};

}  // namespace blip::script
