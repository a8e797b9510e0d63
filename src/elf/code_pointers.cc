// SPDX-License-Identifier: MIT
#include "elf/code_pointers.h"

#include <elf.h>

#include <array>
#include <cstring>

#include "elf/address_set.h"
#include "elf/dynamic.h"
#include "elf/relocations.h"

namespace blip::elf {
namespace {

void add_words(std::span<const uint8_t> bytes, FileAddr begin, CodeAddressSet& found) {
  for (uint64_t at = -begin.value & 7; at + 8 <= bytes.size(); at += 8) {
    uint64_t word;
    std::memcpy(&word, bytes.data() + at, 8);
    found.add(FileAddr(word));
  }
}

// Sections that hold no pointers but much that looks like some.
bool may_hold_pointers(const Section& section) {
  if (!(section.flags & SHF_ALLOC) || (section.flags & SHF_EXECINSTR)) return false;
  if (section.name.starts_with(".eh_frame") || section.name.starts_with(".gcc_except_table")) return false;
  return section.type == SHT_PROGBITS || section.type == SHT_INIT_ARRAY || section.type == SHT_FINI_ARRAY ||
         section.type == SHT_PREINIT_ARRAY;
}

void add_data(const ElfFile& file, CodeAddressSet& found) {
  for (const Section& section : file.sections())
    if (may_hold_pointers(section)) add_words(file.section_bytes(section), section.range.begin, found);
  if (!file.sections().empty()) return;
  for (const Segment& segment : file.segments())
    if (!segment.exec) add_words(file.bytes(segment.range), segment.range.begin, found);
}

}  // namespace

std::vector<FileAddr> code_pointers(const ElfFile& file) {
  CodeAddressSet found(file);
  found.add(file.entry());
  for (int64_t tag : std::array<int64_t, 2>{DT_INIT, DT_FINI})
    if (auto address = dynamic_value(file, tag)) found.add(FileAddr(*address));
  for_each_stored_pointer(file, [&](StoredPointer pointer) { found.add(pointer.value); });
  if (!file.is_position_independent()) add_data(file, found);
  return found.sorted();
}

}  // namespace blip::elf
