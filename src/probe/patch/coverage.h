// SPDX-License-Identifier: MIT
// How much of a module's code can be probed, and by which steps of the ladder.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>

#include "probe/code/module.h"
#include "probe/code/site.h"
#include "probe/patch/plan.h"
#include "x86/rewrite.h"
#include "x86/trampoline_space.h"

namespace blip::probe {

struct Coverage {
  size_t total = 0;
  std::array<size_t, x86::kStepCount> steps{};
  std::map<std::string, size_t> refusals;  // reason without addresses -> how often

  size_t refused() const;
  size_t jumps() const { return total - refused(); }
};

// Counts what a plan arms and what it refuses.
Coverage coverage_of(const ModulePlan& plan);

struct RefusedInstruction {
  FileAddr addr;
  std::string reason;
};

// Every instruction of the functions, each probed alone. `refused` is told about those that cannot be.
Coverage coverage_alone(const Module& module, std::span<const elf::Function> functions,
                        const PlanOptions& options, x86::TrampolineSpace& space,
                        const std::function<void(const RefusedInstruction&)>& refused = {});
// All of them at once.
Coverage coverage_together(const Module& module, std::span<const elf::Function> functions,
                           const PlanOptions& options, x86::TrampolineSpace& space);

// Functions, not instructions: those whose exits are all known and can be patched, together with the entry
// and with all other functions. `refused` is told about the others. Parts of functions are left out.
Coverage coverage_of_exits(const Module& module, std::span<const elf::Function> functions,
                           const PlanOptions& options, x86::TrampolineSpace& space,
                           const std::function<void(const RefusedInstruction&)>& refused = {});

// Returns the module as if it were loaded: an executable or library that can be anywhere lies where the
// kernel puts one.
Module assume_loaded(const Module& module);

}  // namespace blip::probe
