// SPDX-License-Identifier: MIT
// gcc tells the entry (DW_AT_entry_pc). clang tells ranges only, which may begin with what comes from no line
// of the source: the padding before a loop that the function was put into runs once, not once for each call.
#include "dwarf/units/instance_entry.h"

#include "dwarf/lines/line_rows.h"

namespace blip::dwarf {

namespace {

// Several rows may begin at one address.
bool has_source_before(Dwarf_Lines* lines, size_t next) {
  if (next == 0) return false;
  const auto last = line_row(lines, next - 1);
  for (size_t i = next; last && i-- > 0;) {
    const auto row = line_row(lines, i);
    if (!row || row->address != last->address) return false;
    if (row->has_source) return true;
  }
  return false;
}

}  // namespace

std::optional<FileAddr> instance_entry(const Dwarf_Die& instance, const Dwarf_Die& unit) {
  const auto begin = entry_of(instance);
  if (!begin || *begin == 0) return std::nullopt;
  Dwarf_Lines* lines = nullptr;
  size_t count = 0;
  if (has(instance, DW_AT_entry_pc) ||
      ::dwarf_getsrclines(const_cast<Dwarf_Die*>(&unit), &lines, &count) != 0)
    return FileAddr(*begin);
  size_t next = rows_up_to(lines, count, *begin);
  if (has_source_before(lines, next)) return FileAddr(*begin);
  for (; next < count; ++next) {
    const auto row = line_row(lines, next);
    if (!row || !contains(instance, row->address)) break;
    if (row->has_source) return FileAddr(row->address);
  }
  return FileAddr(*begin);
}

}  // namespace blip::dwarf
