// SPDX-License-Identifier: MIT
// Why there is nothing to probe at an address, in words that say what is there instead. Each is the part of a
// sentence behind the address.
#pragma once

#include <span>
#include <string>

#include "probe/code/module.h"
#include "probe/code/resolve.h"

namespace blip::probe {

// An address of the process where no module is: the vDSO, a heap, a JIT compiler's code, nothing at all.
std::string outside_of_modules(TargetAddr address, std::span<const Module> modules,
                               const ResolveContext& context);

// Data, or a PLT. Empty: it is code.
std::string no_code_at(const Module& module, FileAddr address);

// Code that belongs to no function: names the nearest one before.
std::string no_function_at(const Module& module, FileAddr address);

}  // namespace blip::probe
