// SPDX-License-Identifier: MIT
#include "dwarf/index/entry_reader.h"

#include <dwarf.h>

#include "dwarf/index/forms.h"

namespace blip::dwarf {

namespace {

using What = Step::What;

}  // namespace

EntryReader::EntryReader(const DebugSections& sections, const UnitHeader& unit,
                         const Abbreviations& abbreviations)
    : sections_(sections),
      unit_(unit),
      abbreviations_(abbreviations),
      string_offsets_(find_string_offsets()) {}

// The unit's own entry says where its table is; without that it is behind the section's first header.
uint64_t EntryReader::find_string_offsets() const {
  constexpr uint64_t kShortHeader = 8, kLongHeader = 16;
  Cursor cursor = begin();
  UnitEntry ignored;
  if (const Abbreviation* kind = abbreviations_.find(cursor.uleb()))
    for (const Step& step : abbreviations_.all_steps(*kind)) {
      if (step.what == What::kStringOffsets) return cursor.fixed(unit_.offset_size);
      apply(cursor, step, ignored);
    }
  if (unit_.version < 5) return 0;
  return unit_.offset_size == sizeof(uint64_t) ? kLongHeader : kShortHeader;
}

// A name that cannot be read counts as no name. If the section ends with the end of a text, all names can be
// read.
const char* EntryReader::text_at(std::span<const uint8_t> section, uint64_t at) {
  if (at >= section.size() || section.back() != '\0') return "";
  return reinterpret_cast<const char*>(section.data() + at);
}

const char* EntryReader::numbered_text(uint64_t number) const {
  if (number > sections_.string_offsets.size()) return "";
  Cursor slot(sections_.string_offsets, string_offsets_ + number * unit_.offset_size);
  const uint64_t at = slot.fixed(unit_.offset_size);
  return slot.failed() ? "" : text_at(sections_.strings, at);
}

const char* EntryReader::text(Cursor& cursor, uint64_t form) const {
  switch (form) {
    case DW_FORM_string:
      return cursor.text();
    case DW_FORM_strp:
      return text_at(sections_.strings, cursor.fixed(unit_.offset_size));
    case DW_FORM_line_strp:
      return text_at(sections_.line_strings, cursor.fixed(unit_.offset_size));
    case DW_FORM_strp_sup:
    case DW_FORM_GNU_strp_alt:
      return text_at(sections_.alternate_strings, cursor.fixed(unit_.offset_size));
    case DW_FORM_strx:
    case DW_FORM_GNU_str_index:
      return numbered_text(cursor.uleb());
    case DW_FORM_strx1:
    case DW_FORM_strx2:
    case DW_FORM_strx3:
    case DW_FORM_strx4:
      return numbered_text(cursor.fixed(*fixed_size(unit_, form)));
    default:
      skip_form(cursor, unit_, form);
      return "";
  }
}

void EntryReader::apply(Cursor& cursor, const Step& step, UnitEntry& entry) const {
  switch (step.what) {
    case What::kSkip:
      cursor.skip(step.size);
      break;
    case What::kSkipForm:
    case What::kStringOffsets:
      skip_form(cursor, unit_, step.form);
      break;
    case What::kName:
      entry.name = text(cursor, step.form);
      break;
    case What::kLinkageName:
      entry.linkage_name = text(cursor, step.form);
      break;
    case What::kOrigin: {
      Cursor number = cursor;
      entry.has_origin = true;
      entry.origin = read_reference(cursor, unit_, step.form);
      if (leaves_unit(step.form)) entry.outside = number.fixed(*fixed_size(unit_, step.form));
      break;
    }
    case What::kDeclaration:
      if (step.form == DW_FORM_flag_present)
        entry.is_declaration = true;
      else if (step.form == DW_FORM_flag)
        entry.is_declaration = cursor.fixed(1) != 0;
      else
        skip_form(cursor, unit_, step.form);
      break;
    case What::kSibling:
      entry.sibling = read_reference(cursor, unit_, step.form).value_or(0);
      break;
  }
}

bool EntryReader::read(Cursor& cursor, UnitEntry& entry, bool all) const {
  entry = {};
  const uint64_t code = cursor.uleb();
  if (code == 0) return !cursor.failed();
  entry.kind = abbreviations_.find(code);
  if (!entry.kind) return false;
  const auto steps = all ? abbreviations_.all_steps(*entry.kind) : abbreviations_.steps(*entry.kind);
  for (const Step& step : steps) apply(cursor, step, entry);
  work_ += steps.size();
  return !cursor.failed();
}

// Does the same as attribute() in dwarf/units/die.cc.
std::optional<const char*> EntryReader::find(UnitEntry entry, Field field) const {
  constexpr int kMostSteps = 8;
  for (int i = 0; i < kMostSteps; ++i) {
    if (entry.*field) return entry.*field;
    if (!entry.has_origin) return "";
    if (!entry.origin || !is_inside(*entry.origin)) return std::nullopt;
    Cursor there = begin();
    there.go_to(*entry.origin);
    if (!read(there, entry, true) || !entry.kind) return "";
  }
  return "";
}

}  // namespace blip::dwarf
