// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "elf/elf_file.h"

namespace blip::elf {

// .gnu_debuglink: the name of the file the symbols went to, and the CRC-32 of all its bytes.
struct DebugLink {
  std::string_view name;  // never empty, never with a '/'
  uint32_t crc = 0;

  bool operator==(const DebugLink&) const = default;
};

// Nothing where there is no such section, or a malformed one.
std::optional<DebugLink> debug_link(const ElfFile& file);

// The checksum of the whole file as .gnu_debuglink computes it. Reads every byte.
uint32_t file_crc(const ElfFile& file);

}  // namespace blip::elf
