// SPDX-License-Identifier: MIT
// Which compilation unit an address is of. Only for this folder.
#pragma once

#include <elfutils/libdw.h>

#include <optional>
#include <vector>

#include "base/addr.h"

namespace blip::dwarf {

class UnitRanges {
 public:
  UnitRanges() = default;
  // Of the units that have a line table.
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
