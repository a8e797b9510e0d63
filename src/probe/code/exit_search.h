// SPDX-License-Identifier: MIT
#pragma once

#include "probe/code/function_exits.h"
#include "probe/code/module_flow.h"

namespace blip::probe {

// Finds the exits of one function.
FunctionExits search_exits(const ModuleFlow& flow, const elf::Function& function);

}  // namespace blip::probe
