// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "dwarf/module.h"

namespace blip::dwarf {

std::vector<InlinedInstance> find_inlined(Module& module, const InlinedName& name);

}  // namespace blip::dwarf
