// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dwarf/debug_info.h"
#include "probe/module.h"
#include "script/scope.h"
#include "session/targets.h"

namespace blip::session {

// What names mean at the places of a process, by the debugging information of its modules, which is read
// where it is needed and kept. The modules must outlive this, and this the scopes.
class Scopes {
 public:
  explicit Scopes(std::span<const probe::Module> modules) : modules_(modules) {}

  // Never null; what it does not know it says.
  std::unique_ptr<script::Scope> at(const Target& target);

 private:
  struct Debug {
    std::optional<dwarf::DebugInfo> info;
    std::string missing;  // why there is none
  };

  Debug& debug_of(size_t module);

  std::span<const probe::Module> modules_;
  std::map<size_t, Debug> debug_;  // by module
};

}  // namespace blip::session
