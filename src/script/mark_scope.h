// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "script/types/scope.h"

namespace blip::script {

// The scope of a static mark: the mark's arguments, and whatever else is known at its place.
class MarkScope final : public Scope {
 public:
  // `arguments`: arg1, arg2, ... in this order.
  MarkScope(std::unique_ptr<Scope> place, std::vector<Variable> arguments)
      : place_(std::move(place)), arguments_(std::move(arguments)) {}

  std::optional<Variable> find(std::string_view name) override;
  std::optional<Variable> find_in(std::string_view where, std::string_view name) override {
    return place_->find_in(where, name);
  }
  const Type* find_type(std::string_view name) override { return place_->find_type(name); }
  // Of 8 bytes without a sign may be an address, and is shown as one.
  std::vector<Variable> parameters() override;
  std::vector<Variable> locals() override { return place_->locals(); }
  const Type* result_type() override { return nullptr; }
  std::string what_is_missing() override { return place_->what_is_missing(); }
  std::string argument_names() override;
  std::vector<std::string> files_with(std::string_view name) override { return place_->files_with(name); }

 private:
  std::unique_ptr<Scope> place_;
  std::vector<Variable> arguments_;
};

}  // namespace blip::script
