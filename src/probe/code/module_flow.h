// SPDX-License-Identifier: MIT
#pragma once

#include <mutex>
#include <optional>

#include "probe/code/code_users.h"
#include "probe/code/jump_targets.h"
#include "probe/code/module.h"
#include "probe/code/pieces.h"

namespace blip::probe {

// Knows a module's flow of control. Each part is made when it is first asked for. Any number of threads may
// ask.
class ModuleFlow {
 public:
  explicit ModuleFlow(const Module& of) : module(of), pieces(of) {}

  const Module& module;
  const Pieces pieces;

  const JumpTargets& targets() const {
    std::call_once(targets_once_, [&] { targets_.emplace(module); });
    return *targets_;
  }
  const CodeUsers& users() const {
    std::call_once(users_once_, [&] { users_.emplace(module, pieces); });
    return *users_;
  }

 private:
  mutable std::once_flag targets_once_, users_once_;
  mutable std::optional<JumpTargets> targets_;
  mutable std::optional<CodeUsers> users_;
};

}  // namespace blip::probe
