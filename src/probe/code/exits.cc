// SPDX-License-Identifier: MIT
#include "probe/code/exits.h"

#include <memory>

#include "probe/code/exit_search.h"

namespace blip::probe {

struct ExitFinder::Knowledge : ModuleFlow {
  using ModuleFlow::ModuleFlow;
};

ExitFinder::ExitFinder(const Module& module) : knowledge_(std::make_unique<Knowledge>(module)) {}

ExitFinder::~ExitFinder() = default;

FunctionExits ExitFinder::exits_of(const elf::Function& function) const {
  return search_exits(*knowledge_, function);
}

bool ExitFinder::is_no_function(const elf::Function& function) const {
  return function.is_cold || knowledge_->pieces.begins_in_frame(function) ||
         knowledge_->pieces.is_signal_frame(function);
}

}  // namespace blip::probe
