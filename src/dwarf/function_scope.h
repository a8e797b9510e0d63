// SPDX-License-Identifier: MIT
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "dwarf/call_frame.h"
#include "dwarf/debug_data.h"
#include "dwarf/units/code_scopes.h"
#include "dwarf/variable_places.h"
#include "script/types/scope.h"

namespace blip::dwarf {

// The names that mean something at one instruction.
class FunctionScope final : public script::Scope {
 public:
  // `instance`: the inlined function that is meant, if its code may begin with that of another one.
  FunctionScope(DebugData& debug_data, const CodeLocation& site, const void* instance = nullptr);

  std::optional<script::Variable> find(std::string_view name) override;
  std::optional<script::Variable> find_in(std::string_view where, std::string_view name) override;
  const script::Type* find_type(std::string_view name) override;
  std::vector<script::Variable> parameters() override;
  std::vector<script::Variable> locals() override;
  const script::Type* result_type() override;
  std::optional<script::Place> result_place() override;
  std::string what_is_missing() override;
  std::vector<std::string> files_with(std::string_view name) override;

 private:
  using Variable = script::Variable;

  std::optional<Variable> find_declared(const std::vector<Dwarf_Die>& scopes, std::string_view name);
  std::optional<Variable> find_global(std::string_view name);
  std::optional<Dwarf_Die> named_in(const Names& names, std::string_view name) const;
  bool is_visible(const Dwarf_Die& variable);
  // The index of the file in which the function is written.
  UnitIndex& source_unit();
  std::optional<Variable> find_in_unit(std::string_view file, const std::string& name);
  Variable local(const Dwarf_Die& die, bool is_parameter, bool just_begins = false);
  Variable global(const Dwarf_Die& die);
  std::optional<Variable> find_bound(std::string_view name);
  // The place where the module's code finds a variable that several modules may define; nullopt if it is the
  // module's own.
  std::optional<script::Place> bound_place(const Dwarf_Die& die) const;
  std::vector<Variable> parameters_of(const Dwarf_Die& owner);
  // The type of a variable here: of an array, with its length.
  const script::Type& type_here(const Dwarf_Die& variable);
  // The number that a range tells by another variable or an expression.
  std::optional<script::Code> bound(const Dwarf_Die& range, unsigned name);
  // "a::b::" and "a::" and "" for a function in a::b.
  std::vector<std::string> prefixes() const;

  DebugData& debug_data_;
  UnitIndex* unit_ = nullptr;
  CodeLocation site_;
  std::optional<CodeScopes> scopes_;
  std::optional<CallFrame> frame_;
  VariablePlaces places_;
  std::deque<script::Type> types_;  // of this place
};

}  // namespace blip::dwarf
