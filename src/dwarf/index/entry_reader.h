// SPDX-License-Identifier: MIT
// The entries of one unit, from their bytes, as far as an index of names needs them.
#pragma once

#include <cstdint>
#include <optional>

#include "dwarf/index/abbreviations.h"
#include "dwarf/index/cursor.h"
#include "dwarf/index/debug_sections.h"
#include "dwarf/index/unit_headers.h"

namespace blip::dwarf {

struct UnitEntry {
  const Abbreviation* kind = nullptr;  // null: the end of a list of children
  const char* name = nullptr;
  const char* linkage_name = nullptr;
  std::optional<uint64_t> origin;   // in .debug_info; none: there is none, or it is in another file
  std::optional<uint64_t> outside;  // the number that says where, if it may be in another unit or file
  bool has_origin = false;
  bool is_declaration = false;
  uint64_t sibling = 0;  // 0: not said
};

class EntryReader {
 public:
  // All must outlive it.
  EntryReader(const DebugSections& sections, const UnitHeader& unit, const Abbreviations& abbreviations);

  // At the first entry, and not beyond the unit.
  Cursor begin() const { return Cursor(sections_.info.first(unit_.end), unit_.entry); }

  // The next one. False: malformed. `all`: also what does not count for its role.
  bool read(Cursor& cursor, UnitEntry& entry, bool all = false) const;

  // Steps that were done.
  uint64_t work() const { return work_; }
  uint64_t size() const { return unit_.end - unit_.begin; }

  // The field of the entry, or of the entry whose instance or definition it is; empty if it has none. Nullopt
  // if that entry is in another unit.
  using Field = const char* UnitEntry::*;
  std::optional<const char*> find(UnitEntry entry, Field field) const;

 private:
  bool is_inside(uint64_t at) const { return at >= unit_.entry && at < unit_.end; }
  void apply(Cursor& cursor, const Step& step, UnitEntry& entry) const;
  const char* text(Cursor& cursor, uint64_t form) const;
  static const char* text_at(std::span<const uint8_t> section, uint64_t at);
  const char* numbered_text(uint64_t number) const;
  uint64_t find_string_offsets() const;

  const DebugSections& sections_;
  const UnitHeader& unit_;
  const Abbreviations& abbreviations_;
  uint64_t string_offsets_ = 0;
  mutable uint64_t work_ = 0;
};

}  // namespace blip::dwarf
