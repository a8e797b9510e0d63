// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "probe/module.h"

namespace blip::session {

// Every function of the module, one per address, sorted; those known only by unwind tables have no name.
Result<std::vector<elf::Function>> all_functions(const probe::Module& module);

// The demangled name without parameters; without a name "MODULE+0x1234", by the file's address.
std::string display_name(const probe::Module& module, const elf::Function& function);

}  // namespace blip::session
