// SPDX-License-Identifier: MIT
#include "elf/dynamic.h"

#include <elf.h>

#include "elf/bytes.h"

namespace blip::elf {

std::optional<uint64_t> dynamic_value(const ElfFile& file, int64_t tag) {
  const ProgramHeader* header = file.find_program_header(PT_DYNAMIC);
  if (!header) return std::nullopt;
  std::span<const uint8_t> entries = file.file_bytes(header->offset, header->filesz);
  for (uint64_t at = 0;; at += sizeof(Elf64_Dyn)) {
    auto entry = load<Elf64_Dyn>(entries, at);
    if (!entry || entry->d_tag == DT_NULL) return std::nullopt;
    if (entry->d_tag == tag) return entry->d_un.d_val;
  }
}

}  // namespace blip::elf
