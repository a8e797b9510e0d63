// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <span>

#include "probe/module.h"
#include "script/scope.h"
#include "session/debug_store.h"
#include "session/targets.h"

namespace blip::session {

// What names mean at the places of a process, by the debugging information of its modules. The modules and
// the store must outlive this, and this the scopes.
class Scopes {
 public:
  Scopes(std::span<const probe::Module> modules, DebugStore& store) : modules_(modules), store_(store) {}

  // Never null; what it does not know it says.
  std::unique_ptr<script::Scope> at(const Target& target);

 private:
  std::span<const probe::Module> modules_;
  DebugStore& store_;
};

}  // namespace blip::session
