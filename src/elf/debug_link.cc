// SPDX-License-Identifier: MIT
#include "elf/debug_link.h"

#include <lzma.h>

#include "elf/bytes.h"

namespace blip::elf {

std::optional<DebugLink> debug_link(const ElfFile& file) {
  const Section* section = file.find_section(".gnu_debuglink");
  if (!section) return std::nullopt;
  std::span<const uint8_t> bytes = file.section_bytes(*section);
  std::string_view name = c_string(bytes, 0);
  if (name.empty() || name.find('/') != std::string_view::npos || name == "." || name == "..")
    return std::nullopt;
  auto crc = load<uint32_t>(bytes, (name.size() + 1 + 3) & ~uint64_t{3});  // padded to 4 bytes
  return crc ? std::optional(DebugLink{name, *crc}) : std::nullopt;
}

uint32_t file_crc(const ElfFile& file) {
  std::span<const uint8_t> bytes = file.file_bytes(FileOffset(0), file.size());
  return lzma_crc32(bytes.data(), bytes.size(), 0);
}

}  // namespace blip::elf
