// SPDX-License-Identifier: MIT
// The sections of a file's debugging information, expanded, as bytes. Only for this folder.
#pragma once

#include <libelf.h>

#include <cstdint>
#include <span>
#include <string_view>

namespace blip::dwarf {

// "debug_info", without a dot. Empty: there is none. libelf keeps what it has expanded.
std::span<const uint8_t> section_bytes(Elf* elf, std::string_view name);

struct DebugSections {
  std::span<const uint8_t> info, abbreviations, strings, line_strings, string_offsets, alternate_strings;

  // `alternate` may be null.
  static DebugSections of(Elf* debug, Elf* alternate);
};

}  // namespace blip::dwarf
