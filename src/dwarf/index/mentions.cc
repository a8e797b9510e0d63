// SPDX-License-Identifier: MIT
// Names are in .debug_str, and entries hold their offsets there: of 4 bytes, or of 8 whose first 4 look the
// same as long as the section is smaller than 4 GiB. Short names are in the entry itself, and Go's all are.
// With DWARF 5 entries may hold numbers instead, of offsets that .debug_str_offsets has for each unit.
#include "dwarf/index/mentions.h"

#include <algorithm>

#include "dwarf/index/byte_search.h"
#include "dwarf/index/debug_sections.h"

namespace blip::dwarf {

namespace {

// Strings may share their ends: the name may be the end of another.
std::vector<uint32_t> offsets_of(std::span<const uint8_t> strings, std::string_view identifier) {
  std::vector<uint32_t> offsets;
  for (uint64_t at : find_text(strings, identifier)) {
    const size_t end = at + identifier.size();
    if (end < strings.size() && (strings[end] == '\0' || strings[end] == '<'))
      offsets.push_back(static_cast<uint32_t>(at));
  }
  return offsets;
}

}  // namespace

Mentions::Mentions(Elf* debug, Elf* alternate)
    : info_(section_bytes(debug, "debug_info")),
      strings_(section_bytes(debug, "debug_str")),
      slots_(section_bytes(debug, "debug_str_offsets")),
      alternate_strings_(section_bytes(alternate, "debug_str")) {}

Mentions::Places Mentions::of_name(std::string_view identifier) const {
  Places places;
  std::vector<uint32_t> offsets = offsets_of(strings_, identifier);
  places.slots = find_words(slots_, offsets);
  const std::vector<uint32_t> others = offsets_of(alternate_strings_, identifier);
  offsets.insert(offsets.end(), others.begin(), others.end());
  places.info = find_words(info_, std::move(offsets));
  for (uint32_t at : offsets_of(info_, identifier)) places.info.push_back(at);
  std::sort(places.info.begin(), places.info.end());
  return places;
}

std::vector<uint64_t> Mentions::of_entries(std::span<const uint64_t> offsets) const {
  std::vector<uint32_t> words;
  for (uint64_t offset : offsets) words.push_back(static_cast<uint32_t>(offset));
  return find_words(info_, std::move(words));
}

}  // namespace blip::dwarf
