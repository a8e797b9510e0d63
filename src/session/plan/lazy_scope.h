// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "script/types/scope.h"

namespace blip::session {

// The scope of a place, made when something is asked that debugging information has to tell: it need not be read for arguments by
// the calling convention.
class LazyScope final : public script::Scope {
 public:
  using Make = std::function<std::unique_ptr<script::Scope>()>;

  // `has_arguments`: arguments have names of their own there, as those of marks do.
  LazyScope(Make make, bool has_arguments) : make_(std::move(make)), has_arguments_(has_arguments) {}

  std::optional<script::Variable> find(std::string_view name) override { return scope().find(name); }
  std::optional<script::Variable> find_in(std::string_view where, std::string_view name) override {
    return scope().find_in(where, name);
  }
  const script::Type* find_type(std::string_view name) override { return scope().find_type(name); }
  std::vector<script::Variable> parameters() override { return scope().parameters(); }
  std::vector<script::Variable> locals() override { return scope().locals(); }
  const script::Type* result_type() override { return scope().result_type(); }
  std::optional<script::Place> result_place() override { return scope().result_place(); }
  std::string what_is_missing() override { return scope().what_is_missing(); }
  std::string argument_names() override { return has_arguments_ ? scope().argument_names() : std::string(); }
  std::vector<std::string> files_with(std::string_view name) override { return scope().files_with(name); }

 private:
  script::Scope& scope() {
    if (!scope_) scope_ = make_();
    return *scope_;
  }

  Make make_;
  bool has_arguments_;
  std::unique_ptr<script::Scope> scope_;
};

}  // namespace blip::session
