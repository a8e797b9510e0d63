// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "dwarf/debug_data.h"
#include "dwarf/inlined_instance.h"

namespace blip::dwarf {

std::vector<InlinedInstance> find_inlined(DebugData& debug_data, const InlinedName& name);

}  // namespace blip::dwarf
