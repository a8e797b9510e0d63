// SPDX-License-Identifier: MIT
#include "elf/relocations.h"

#include <elf.h>

#include "elf/bytes.h"
#include "elf/dynamic.h"

namespace blip::elf {
namespace {

// Newer than the elf.h of Debian 12; from the generic ABI.
constexpr uint32_t kShtRelr = 19;
constexpr int64_t kDtRelrsz = 35, kDtRelr = 36;

using Bytes = std::span<const uint8_t>;
using Visit = std::function<void(StoredPointer)>;

std::optional<FileAddr> symbol_value(Bytes symbols, uint64_t index) {
  if (index > symbols.size() / sizeof(Elf64_Sym)) return std::nullopt;
  auto symbol = load<Elf64_Sym>(symbols, index * sizeof(Elf64_Sym));
  bool defined = symbol && symbol->st_shndx != SHN_UNDEF && symbol->st_shndx != SHN_ABS;
  return defined ? std::optional(FileAddr(symbol->st_value)) : std::nullopt;
}

std::optional<FileAddr> stored_value(const Elf64_Rela& relocation, Bytes symbols) {
  FileAddr addend(static_cast<uint64_t>(relocation.r_addend));
  switch (ELF64_R_TYPE(relocation.r_info)) {
    case R_X86_64_RELATIVE:
    case R_X86_64_IRELATIVE:
      return addend;
    case R_X86_64_64:
    case R_X86_64_GLOB_DAT:
    case R_X86_64_JUMP_SLOT:
      if (auto value = symbol_value(symbols, ELF64_R_SYM(relocation.r_info))) return *value + addend.value;
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

void visit_rela(Bytes table, Bytes symbols, const Visit& visit) {
  for (uint64_t at = 0; at + sizeof(Elf64_Rela) <= table.size(); at += sizeof(Elf64_Rela)) {
    auto relocation = *load<Elf64_Rela>(table, at);
    if (auto value = stored_value(relocation, symbols)) visit({FileAddr(relocation.r_offset), *value});
  }
}

void visit_place(const ElfFile& file, FileAddr place, const Visit& visit) {
  if (auto value = load<uint64_t>(file.bytes({place, place + 8}), 0)) visit({place, FileAddr(*value)});
}

// An even entry is a place; an odd one is a bitmap of which of the 63 words after the last place are places
// too. The value is what stands there.
void visit_relr(const ElfFile& file, Bytes table, const Visit& visit) {
  FileAddr next;
  for (uint64_t at = 0; at + 8 <= table.size(); at += 8) {
    uint64_t entry = *load<uint64_t>(table, at);
    if (!(entry & 1)) {
      visit_place(file, FileAddr(entry), visit);
      next = FileAddr(entry) + 8;
      continue;
    }
    for (unsigned bit = 1; bit < 64; ++bit)
      if (entry >> bit & 1) visit_place(file, next + (bit - 1) * 8, visit);
    next = next + 63 * 8;
  }
}

void visit_dynamic(const ElfFile& file, const Visit& visit) {
  auto table = [&](int64_t address_tag, int64_t size_tag) -> Bytes {
    auto address = dynamic_value(file, address_tag), size = dynamic_value(file, size_tag);
    return address && size ? clamped(file.bytes_from(FileAddr(*address)), 0, *size) : Bytes{};
  };
  auto symtab = dynamic_value(file, DT_SYMTAB);
  Bytes symbols = symtab ? file.bytes_from(FileAddr(*symtab)) : Bytes{};
  visit_rela(table(DT_RELA, DT_RELASZ), symbols, visit);
  visit_rela(table(DT_JMPREL, DT_PLTRELSZ), symbols, visit);
  visit_relr(file, table(kDtRelr, kDtRelrsz), visit);
}

}  // namespace

void for_each_stored_pointer(const ElfFile& file, const Visit& visit) {
  if (file.sections().empty()) return visit_dynamic(file, visit);
  auto sections = file.sections();
  for (const Section& section : sections) {
    if (!(section.flags & SHF_ALLOC)) continue;
    if (section.type == SHT_RELA) {
      Bytes symbols = section.link < sections.size() ? file.section_bytes(sections[section.link]) : Bytes{};
      visit_rela(file.section_bytes(section), symbols, visit);
    } else if (section.type == kShtRelr) {
      visit_relr(file, file.section_bytes(section), visit);
    }
  }
}

}  // namespace blip::elf
