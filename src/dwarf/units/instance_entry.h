// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "base/addr.h"
#include "dwarf/units/die.h"

namespace blip::dwarf {

// The address where the code of an inlined function begins. `unit` holds it, and has its lines.
std::optional<FileAddr> instance_entry(const Dwarf_Die& instance, const Dwarf_Die& unit);

}  // namespace blip::dwarf
