// SPDX-License-Identifier: MIT
// Finds the compilation unit of an address. Used only in this folder.
#pragma once

#include <elfutils/libdw.h>

#include <optional>
#include <vector>

#include "base/addr.h"

namespace blip::dwarf {

class UnitRanges {
 public:
  UnitRanges() = default;
  // Covers the units that have a line table.
  explicit UnitRanges(Dwarf* dwarf);

  bool empty() const { return ranges_.empty(); }
  // The offset of the unit's DIE.
  std::optional<Dwarf_Off> find(FileAddr address) const;

 private:
  // The code of one compilation unit, or of a part of it.
  struct UnitRange {
    FileRange code;
    Dwarf_Off unit;  // of its DIE
  };
  void add_unit(Dwarf_Die& unit);

  std::vector<UnitRange> ranges_;  // sorted
};

}  // namespace blip::dwarf
