// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "elf/spec.h"
#include "probe/module.h"

namespace blip::probe {

// A function the user asked for.
struct FunctionTarget {
  size_t module = 0;   // index into the modules
  size_t request = 0;  // index into the specs
  elf::Function function;
  std::string name;  // the event's: demangled, without parameters
};

// All functions that match, in the order of the specs and then of addresses; one per address, the first spec
// that matches wins. A spec that matches nothing is an error that suggests the nearest names.
Result<std::vector<FunctionTarget>> resolve_functions(std::span<const elf::Spec> specs,
                                                      std::span<const Module> modules);

}  // namespace blip::probe
