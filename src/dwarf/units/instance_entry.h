// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "base/addr.h"
#include "dwarf/units/die.h"

namespace blip::dwarf {

// Where the code of an inlined function begins. `unit`: the one that holds it, for its lines.
std::optional<FileAddr> instance_entry(const Dwarf_Die& instance, const Dwarf_Die& unit);

}  // namespace blip::dwarf
