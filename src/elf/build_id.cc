// SPDX-License-Identifier: MIT
#include <elf.h>

#include "base/hex.h"
#include "elf/bytes.h"
#include "elf/elf_file.h"

namespace blip::elf {
namespace {

uint64_t padded(uint64_t size, uint64_t alignment) { return (size + alignment - 1) & ~(alignment - 1); }

struct Place {
  uint64_t offset;
  uint64_t size;
};

// Notes follow each other: header, name, descriptor, the latter two padded to 4 bytes.
std::optional<Place> find_build_id(std::span<const uint8_t> notes) {
  for (uint64_t at = 0;;) {
    auto note = load<Elf64_Nhdr>(notes, at);
    if (!note) return std::nullopt;
    uint64_t name = at + sizeof(Elf64_Nhdr);
    uint64_t descriptor = name + padded(note->n_namesz, 4);
    uint64_t size = clamped(notes, descriptor, note->n_descsz).size();
    if (note->n_type == NT_GNU_BUILD_ID && c_string(notes, name) == "GNU" && size > 0)
      return Place{descriptor, size};
    at = descriptor + padded(note->n_descsz, 4);
  }
}

}  // namespace

std::string ElfFile::build_id() const {
  if (auto range = build_id_range()) return to_hex(bytes(*range));
  for (const ProgramHeader& header : program_headers_) {
    if (header.type != PT_NOTE) continue;
    auto notes = file_bytes(header.offset, header.filesz);
    if (auto place = find_build_id(notes)) return to_hex(clamped(notes, place->offset, place->size));
  }
  for (const Section& section : sections_) {
    if (section.type != SHT_NOTE) continue;
    auto notes = section_bytes(section);
    if (auto place = find_build_id(notes)) return to_hex(clamped(notes, place->offset, place->size));
  }
  return {};
}

std::optional<FileRange> ElfFile::build_id_range() const {
  for (const ProgramHeader& header : program_headers_) {
    if (header.type != PT_NOTE) continue;
    auto place = find_build_id(bytes(header.range));
    if (!place) continue;
    FileAddr begin = header.range.begin + place->offset;
    return FileRange{begin, begin + place->size};
  }
  return std::nullopt;
}

}  // namespace blip::elf
