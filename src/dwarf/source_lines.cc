// SPDX-License-Identifier: MIT
#include "dwarf/source_lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <algorithm>
#include <vector>

#include "dwarf/handles.h"

namespace blip::dwarf {

namespace {

// The code of one compilation unit, or of a part of it.
struct UnitRange {
  FileRange code;
  Dwarf_Off unit;  // of its DIE
};

}  // namespace

struct SourceLines::Tables {
  Handles handles;
  std::vector<UnitRange> ranges;  // sorted

  // .debug_aranges would tell faster, but clang does not write it.
  void index_units();
  void add_unit(Dwarf_Die& unit);
  std::optional<SourceLine> find_in(Dwarf_Off unit, FileAddr address) const;
};

void SourceLines::Tables::index_units() {
  Dwarf_Off at = 0, next = 0;
  size_t header = 0;
  while (::dwarf_nextcu(handles.dwarf.get(), at, &next, &header, nullptr, nullptr, nullptr) == 0) {
    Dwarf_Die unit;
    if (::dwarf_offdie(handles.dwarf.get(), at + header, &unit)) add_unit(unit);
    at = next;
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const UnitRange& a, const UnitRange& b) { return a.code.begin < b.code.begin; });
}

// Code that the linker dropped keeps its tables, at address 0.
void SourceLines::Tables::add_unit(Dwarf_Die& unit) {
  if (!::dwarf_hasattr(&unit, DW_AT_stmt_list)) return;
  Dwarf_Addr base = 0, begin = 0, end = 0;
  for (ptrdiff_t i = 0; (i = ::dwarf_ranges(&unit, i, &base, &begin, &end)) > 0;)
    if (begin != 0 && begin < end)
      ranges.push_back({{FileAddr(begin), FileAddr(end)}, ::dwarf_dieoffset(&unit)});
}

std::optional<SourceLine> SourceLines::Tables::find_in(Dwarf_Off offset, FileAddr address) const {
  Dwarf_Die unit;
  if (!::dwarf_offdie(handles.dwarf.get(), offset, &unit)) return std::nullopt;
  Dwarf_Line* row = ::dwarf_getsrc_die(&unit, address.value);
  int line = 0;
  if (!row || ::dwarf_lineno(row, &line) != 0 || line <= 0) return std::nullopt;
  const char* file = ::dwarf_linesrc(row, nullptr, nullptr);
  if (!file) return std::nullopt;
  return SourceLine{file, static_cast<uint32_t>(line)};
}

SourceLines::SourceLines(std::unique_ptr<Tables> tables) : tables_(std::move(tables)) {}
SourceLines::SourceLines(SourceLines&&) noexcept = default;
SourceLines& SourceLines::operator=(SourceLines&&) noexcept = default;
SourceLines::~SourceLines() = default;

Result<SourceLines> SourceLines::open(std::span<const uint8_t> image) {
  auto tables = std::make_unique<Tables>();
  TRY(tables->handles, open_dwarf(image));
  tables->index_units();
  if (tables->ranges.empty()) return Error(ErrorKind::kNotFound, "it has no line tables");
  return SourceLines(std::move(tables));
}

std::optional<SourceLine> SourceLines::find(FileAddr address) const {
  const auto& ranges = tables_->ranges;
  auto after = std::upper_bound(ranges.begin(), ranges.end(), address,
                                [](FileAddr a, const UnitRange& r) { return a < r.code.begin; });
  if (after == ranges.begin() || !std::prev(after)->code.contains(address)) return std::nullopt;
  return tables_->find_in(std::prev(after)->unit, address);
}

}  // namespace blip::dwarf
