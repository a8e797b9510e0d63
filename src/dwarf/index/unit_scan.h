// SPDX-License-Identifier: MIT
// One pass over the entries of a unit for an index of names. libdw would take twenty times as long.
#pragma once

#include <cstdint>
#include <vector>

#include "dwarf/index/abbreviations.h"
#include "dwarf/index/debug_sections.h"
#include "dwarf/index/name_hash.h"
#include "dwarf/index/unit_headers.h"

namespace blip::dwarf {

struct UnitNames {
  // Hashes, sorted, each once.
  std::vector<uint32_t>
      inlined;                  // functions that have an abstract entry here, by identifier and mangled name
  std::vector<uint32_t> named;  // global variables and types, by identifier
  std::vector<uint64_t> origins;  // entries outside that copies of functions here are made from; sorted
  // Some have their names in another unit: those are not in the lists.
  bool lacks_inlined = false, lacks_named = false;
  bool is_readable = true;  // false: it is malformed, and anything may be missing
};

// `hashes` may be used for one unit after the other.
UnitNames scan_unit(const DebugSections& sections, const UnitHeader& unit, const Abbreviations& abbreviations,
                    NameHashes& hashes);

}  // namespace blip::dwarf
