// SPDX-License-Identifier: MIT
#include <elf.h>
#include <fmt/format.h>

#include "elf/bytes.h"
#include "elf/elf_file.h"

namespace blip::elf {
namespace {

uint64_t padded(uint64_t size, uint64_t alignment) { return (size + alignment - 1) & ~(alignment - 1); }

std::string hex(std::span<const uint8_t> bytes) {
  std::string text;
  for (uint8_t byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

// Notes follow each other: header, name, descriptor, the latter two padded to 4 bytes.
std::string build_id_of(std::span<const uint8_t> notes) {
  for (uint64_t at = 0;;) {
    auto note = load<Elf64_Nhdr>(notes, at);
    if (!note) return {};
    uint64_t name = at + sizeof(Elf64_Nhdr);
    uint64_t descriptor = name + padded(note->n_namesz, 4);
    if (note->n_type == NT_GNU_BUILD_ID && c_string(notes, name) == "GNU")
      return hex(clamped(notes, descriptor, note->n_descsz));
    at = descriptor + padded(note->n_descsz, 4);
  }
}

}  // namespace

std::string ElfFile::build_id() const {
  for (const ProgramHeader& header : program_headers_) {
    if (header.type != PT_NOTE) continue;
    if (auto id = build_id_of(file_bytes(header.offset, header.filesz)); !id.empty()) return id;
  }
  for (const Section& section : sections_) {
    if (section.type != SHT_NOTE) continue;
    if (auto id = build_id_of(section_bytes(section)); !id.empty()) return id;
  }
  return {};
}

}  // namespace blip::elf
