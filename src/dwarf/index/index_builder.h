// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "dwarf/index/debug_sections.h"
#include "dwarf/index/name_index.h"

namespace blip::dwarf {

// Changes with the sections: their sizes, and some bytes of each.
uint64_t fingerprint_of(const DebugSections& sections);

// The names of all units, on all CPUs. `units` are those that libdw finds, in its order. None: the sections
// are not such that an index can be made of them.
std::optional<NameTables> build_name_tables(const DebugSections& sections,
                                            std::span<const IndexedUnit> units);

}  // namespace blip::dwarf
