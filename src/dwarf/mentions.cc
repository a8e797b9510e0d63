// SPDX-License-Identifier: MIT
// Names are in .debug_str, and entries hold their offsets there: of 4 bytes, or of 8 whose first 4 look the
// same as long as the section is smaller than 4 GiB. Short names are in the entry itself, and Go's all are.
// With DWARF 5 entries may hold numbers instead, of offsets that .debug_str_offsets has for each unit.
#include "dwarf/mentions.h"

#include <gelf.h>

#include <algorithm>

#include "dwarf/byte_search.h"

namespace blip::dwarf {

namespace {

std::span<const uint8_t> section(Elf* elf, std::string_view wanted) {
  size_t names = 0;
  if (!elf || ::elf_getshdrstrndx(elf, &names) != 0) return {};
  for (Elf_Scn* at = nullptr; (at = ::elf_nextscn(elf, at)) != nullptr;) {
    GElf_Shdr header;
    const char* name = ::gelf_getshdr(at, &header) ? ::elf_strptr(elf, names, header.sh_name) : nullptr;
    std::string_view text = name ? name : "";
    text.remove_prefix(text.starts_with(".z")  ? 2
                       : text.starts_with(".") ? 1
                                               : 0);  // .zdebug_info: GNU's older way
    if (text != wanted || header.sh_type == SHT_NOBITS) continue;
    const Elf_Data* data = ::elf_rawdata(at, nullptr);
    if (const Elf_Data* expanded = ::elf_getdata(at, nullptr)) data = expanded;
    if (data && data->d_buf) return {static_cast<const uint8_t*>(data->d_buf), data->d_size};
  }
  return {};
}

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
    : info_(section(debug, "debug_info")),
      strings_(section(debug, "debug_str")),
      slots_(section(debug, "debug_str_offsets")),
      alternate_strings_(section(alternate, "debug_str")) {}

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
