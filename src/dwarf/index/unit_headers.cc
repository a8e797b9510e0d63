// SPDX-License-Identifier: MIT
#include "dwarf/index/unit_headers.h"

#include <dwarf.h>

#include "dwarf/index/cursor.h"

namespace blip::dwarf {

namespace {

constexpr uint64_t kLong = 0xffffffff;  // the length follows, with 8 bytes
constexpr uint16_t kOldest = 2, kNewest = 5;

// Skips the fields that the kinds of DWARF 5 have before their first entry.
bool skip_by_kind(Cursor& cursor, uint64_t kind, uint8_t offset_size) {
  constexpr uint64_t kId = 8;
  switch (kind) {
    case DW_UT_compile:
    case DW_UT_partial:
      return true;
    case DW_UT_skeleton:
    case DW_UT_split_compile:
      cursor.skip(kId);
      return true;
    case DW_UT_type:
    case DW_UT_split_type:
      cursor.skip(kId + offset_size);
      return true;
    default:
      return false;
  }
}

std::optional<UnitHeader> header_at(std::span<const uint8_t> info, uint64_t at) {
  Cursor cursor(info, at);
  UnitHeader unit{.begin = at, .offset_size = 4};
  uint64_t length = cursor.fixed(4);
  if (length == kLong) {
    unit.offset_size = 8;
    length = cursor.fixed(8);
  }
  if (cursor.failed() || length > info.size() - cursor.position()) return std::nullopt;
  unit.end = cursor.position() + length;
  unit.version = static_cast<uint16_t>(cursor.fixed(2));
  if (unit.version < kOldest || unit.version > kNewest) return std::nullopt;
  const uint64_t kind = unit.version == kNewest ? cursor.fixed(1) : uint64_t{DW_UT_compile};
  if (unit.version == kNewest) unit.address_size = static_cast<uint8_t>(cursor.fixed(1));
  unit.abbreviations = cursor.fixed(unit.offset_size);
  if (unit.version < kNewest) unit.address_size = static_cast<uint8_t>(cursor.fixed(1));
  if (!skip_by_kind(cursor, kind, unit.offset_size)) return std::nullopt;
  unit.entry = cursor.position();
  if (cursor.failed() || unit.entry > unit.end) return std::nullopt;
  return unit;
}

}  // namespace

std::optional<std::vector<UnitHeader>> unit_headers(std::span<const uint8_t> info) {
  std::vector<UnitHeader> units;
  for (uint64_t at = 0; at < info.size(); at = units.back().end) {
    const auto unit = header_at(info, at);
    if (!unit) return std::nullopt;
    units.push_back(*unit);
  }
  return units;
}

}  // namespace blip::dwarf
