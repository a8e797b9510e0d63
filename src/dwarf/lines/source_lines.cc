// SPDX-License-Identifier: MIT
#include "dwarf/lines/source_lines.h"

#include <elfutils/libdw.h>

#include "dwarf/lines/handles.h"
#include "dwarf/lines/unit_ranges.h"

namespace blip::dwarf {

struct SourceLines::Tables {
  Handles handles;
  UnitRanges units;

  std::optional<SourceLine> find_in(Dwarf_Off unit, FileAddr address) const;
};

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
  tables->units = UnitRanges(tables->handles.dwarf.get());
  if (tables->units.empty()) return Error(ErrorKind::kNotFound, "it has no line tables");
  return SourceLines(std::move(tables));
}

std::optional<SourceLine> SourceLines::find(FileAddr address) const {
  const auto unit = tables_->units.find(address);
  return unit ? tables_->find_in(*unit, address) : std::nullopt;
}

}  // namespace blip::dwarf
