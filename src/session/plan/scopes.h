// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "probe/code/module.h"
#include "script/types/scope.h"
#include "session/plan/targets.h"
#include "session/symbolize/debug_store.h"

namespace blip::session {

// Says what names mean at the places of a process, by the debugging information of its modules. The modules
// and the store must outlive this, and this the scopes.
class Scopes {
 public:
  Scopes(std::span<const probe::Module> modules, DebugStore& store) : modules_(modules), store_(store) {}

  // Never null; what it does not know it says.
  std::unique_ptr<script::Scope> at(const Target& target);
  // A variable of a module that is named as in MODULE::NAME, with or without .so and what follows.
  std::optional<script::Variable> find_in_module(std::string_view module, std::string_view name);

 private:
  using BoundVariables = std::map<std::string, dwarf::BoundVariable, std::less<>>;

  std::unique_ptr<script::Scope> of_code(const Target& target);
  dwarf::CodeLocation site(const probe::Module& module, ModuleDebug& debug);
  const BoundVariables& bound_in(const probe::Module& module);
  std::vector<dwarf::CallingModule> callers_of(const probe::Module& module, FileAddr function);
  using Slots = std::multimap<std::string, FileAddr, std::less<>>;
  const Slots& slots_of(const probe::Module& module);

  std::span<const probe::Module> modules_;
  DebugStore& store_;
  std::map<const void*, BoundVariables> bound_;  // by the module's identity
  std::map<const void*, Slots> slots_;           // of functions, by their symbols
};

}  // namespace blip::session
