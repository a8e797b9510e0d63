// SPDX-License-Identifier: MIT
// Finds the functions that calls of an IFUNC reach in a running process.
#pragma once

#include <span>
#include <vector>

#include "probe/code/module.h"

namespace blip::probe {

struct Ifunc {
  size_t module = 0;       // the one that defines it: index into the modules
  elf::Function function;  // its address is the resolver's
};

// For each IFUNC the addresses (in its module) of the functions that were chosen for it, sorted, each once:
// what the loader has stored in the slots of all modules that call it by name, and in the slots its own
// module fills by its resolver. Only memory is read; no resolver is ever run. Nothing where no slot has been
// bound yet, or what was chosen lies in another module (the vDSO).
std::vector<std::vector<FileAddr>> find_implementations(std::span<const Ifunc> ifuncs,
                                                        std::span<const Module> modules,
                                                        const proc::Memory& memory);

}  // namespace blip::probe
