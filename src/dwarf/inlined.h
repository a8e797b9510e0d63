// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "dwarf/module.h"

namespace blip::dwarf {

std::vector<InlinedInstance> find_inlined(Module& module,
                                          const std::function<bool(std::string_view)>& wanted);

}  // namespace blip::dwarf
