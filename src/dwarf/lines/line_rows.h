// SPDX-License-Identifier: MIT
// The rows of a unit's line table, which libdw has sorted by address.
#pragma once

#include <elfutils/libdw.h>

#include <optional>

namespace blip::dwarf {

struct LineRow {
  uint64_t address = 0;
  bool has_source = false;
};

inline std::optional<LineRow> line_row(Dwarf_Lines* lines, size_t index) {
  Dwarf_Line* line = ::dwarf_onesrcline(lines, index);
  Dwarf_Addr address = 0;
  int number = 0;
  bool ends = false;
  if (!line || ::dwarf_lineaddr(line, &address) != 0 || ::dwarf_lineno(line, &number) != 0 ||
      ::dwarf_lineendsequence(line, &ends) != 0)
    return std::nullopt;
  return LineRow{address, !ends && number > 0};
}

// The first row behind the address.
inline size_t rows_up_to(Dwarf_Lines* lines, size_t count, uint64_t address) {
  size_t low = 0, high = count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const auto row = line_row(lines, middle);
    if (row && row->address <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

}  // namespace blip::dwarf
