// SPDX-License-Identifier: MIT
#include "dwarf/index/debug_sections.h"

#include <gelf.h>

namespace blip::dwarf {

std::span<const uint8_t> section_bytes(Elf* elf, std::string_view wanted) {
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

DebugSections DebugSections::of(Elf* debug, Elf* alternate) {
  return {.info = section_bytes(debug, "debug_info"),
          .abbreviations = section_bytes(debug, "debug_abbrev"),
          .strings = section_bytes(debug, "debug_str"),
          .line_strings = section_bytes(debug, "debug_line_str"),
          .string_offsets = section_bytes(debug, "debug_str_offsets"),
          .alternate_strings = section_bytes(alternate, "debug_str")};
}

}  // namespace blip::dwarf
