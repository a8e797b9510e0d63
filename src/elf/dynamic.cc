// SPDX-License-Identifier: MIT
#include "elf/dynamic.h"

#include <elf.h>

#include "elf/bytes.h"

namespace blip::elf {

namespace {

constexpr size_t kMostStrings = 4096;

// Calls visit(value) for each entry with the tag, until it returns false.
template <typename Visit>
void each_value(const ElfFile& file, int64_t tag, Visit visit) {
  const ProgramHeader* header = file.find_program_header(PT_DYNAMIC);
  if (!header) return;
  std::span<const uint8_t> entries = file.file_bytes(header->offset, header->filesz);
  for (uint64_t at = 0;; at += sizeof(Elf64_Dyn)) {
    auto entry = load<Elf64_Dyn>(entries, at);
    if (!entry || entry->d_tag == DT_NULL) return;
    if (entry->d_tag == tag && !visit(entry->d_un.d_val)) return;
  }
}

std::vector<std::string> strings(const ElfFile& file, int64_t tag) {
  std::vector<std::string> found;
  const auto table = dynamic_value(file, DT_STRTAB);
  if (!table) return found;
  const auto bytes = file.bytes_from(FileAddr(*table));
  each_value(file, tag, [&](uint64_t offset) {
    found.emplace_back(c_string(bytes, offset));
    return found.size() < kMostStrings;
  });
  return found;
}

}  // namespace

std::optional<uint64_t> dynamic_value(const ElfFile& file, int64_t tag) {
  std::optional<uint64_t> found;
  each_value(file, tag, [&](uint64_t value) {
    found = value;
    return false;
  });
  return found;
}

std::vector<std::string> needed_libraries(const ElfFile& file) { return strings(file, DT_NEEDED); }

std::string soname(const ElfFile& file) {
  std::vector<std::string> names = strings(file, DT_SONAME);
  return names.empty() ? std::string() : std::move(names.front());
}

}  // namespace blip::elf
