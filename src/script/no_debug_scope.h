// SPDX-License-Identifier: MIT
// Knows what can be known of a function without debugging information: its arguments by the calling
// convention, with names and types if it is one of libc's.
#pragma once

#include "script/prototypes.h"
#include "script/types/scope.h"

namespace blip::script {

class NoDebugScope : public Scope {
 public:
  // Elsewhere than at the function's first instruction its arguments may be anywhere: they are optimized out.
  enum class At : uint8_t { kEntry, kElsewhere };

  // `missing`: see Scope::what_is_missing().
  NoDebugScope(std::string_view function, At at, std::string missing);

  std::optional<Variable> find(std::string_view name) override;
  std::optional<Variable> find_in(std::string_view, std::string_view) override { return std::nullopt; }
  const Type* find_type(std::string_view name) override;
  // Six words if the function is not known.
  std::vector<Variable> parameters() override { return parameters_; }
  std::vector<Variable> locals() override { return {}; }
  const Type* result_type() override { return prototype_ ? prototype_->result : nullptr; }
  std::string what_is_missing() override { return missing_; }

 private:
  const Prototype* prototype_;
  std::vector<Variable> parameters_;
  std::string missing_;
};

}  // namespace blip::script
