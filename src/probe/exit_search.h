// SPDX-License-Identifier: MIT
// How the exits of one function are found.
#pragma once

#include <optional>

#include "probe/code_users.h"
#include "probe/exits.h"
#include "probe/jump_targets.h"
#include "probe/pieces.h"

namespace blip::probe {

// What is known of a module's flow of control, each part made when first asked for.
class ModuleFlow {
 public:
  explicit ModuleFlow(const Module& of) : module(of), pieces(of) {}

  const Module& module;
  Pieces pieces;

  const JumpTargets& targets() {
    if (!targets_) targets_.emplace(module);
    return *targets_;
  }
  const CodeUsers& users() {
    if (!users_) users_.emplace(module, pieces);
    return *users_;
  }

 private:
  std::optional<JumpTargets> targets_;
  std::optional<CodeUsers> users_;
};

FunctionExits search_exits(ModuleFlow& flow, const elf::Function& function);

}  // namespace blip::probe
