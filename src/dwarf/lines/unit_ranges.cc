// SPDX-License-Identifier: MIT
#include "dwarf/lines/unit_ranges.h"

#include <dwarf.h>

#include <algorithm>

namespace blip::dwarf {

// .debug_aranges would tell faster, but clang does not write it.
UnitRanges::UnitRanges(Dwarf* dwarf) {
  Dwarf_Off at = 0, next = 0;
  size_t header = 0;
  while (::dwarf_nextcu(dwarf, at, &next, &header, nullptr, nullptr, nullptr) == 0) {
    Dwarf_Die unit;
    if (::dwarf_offdie(dwarf, at + header, &unit)) add_unit(unit);
    at = next;
  }
  std::sort(ranges_.begin(), ranges_.end(),
            [](const UnitRange& a, const UnitRange& b) { return a.code.begin < b.code.begin; });
}

// Code that the linker dropped keeps its tables, at address 0.
void UnitRanges::add_unit(Dwarf_Die& unit) {
  if (!::dwarf_hasattr(&unit, DW_AT_stmt_list)) return;
  Dwarf_Addr base = 0, begin = 0, end = 0;
  for (ptrdiff_t i = 0; (i = ::dwarf_ranges(&unit, i, &base, &begin, &end)) > 0;)
    if (begin != 0 && begin < end)
      ranges_.push_back({{FileAddr(begin), FileAddr(end)}, ::dwarf_dieoffset(&unit)});
}

std::optional<Dwarf_Off> UnitRanges::find(FileAddr address) const {
  auto after = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                                [](FileAddr a, const UnitRange& r) { return a < r.code.begin; });
  if (after == ranges_.begin() || !std::prev(after)->code.contains(address)) return std::nullopt;
  return std::prev(after)->unit;
}

}  // namespace blip::dwarf
