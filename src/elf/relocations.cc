// SPDX-License-Identifier: MIT
#include "elf/relocations.h"

#include <elf.h>

#include <vector>

#include "elf/bytes.h"
#include "elf/dynamic.h"
#include "elf/symbols.h"
#include "machine/elf.h"

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
    case machine::kRelocateRelative:
    case machine::kRelocateIndirect:
      return addend;
    case machine::kRelocateWord:
    case machine::kRelocateGlobal:
    case machine::kRelocateJumpSlot:
      if (auto value = symbol_value(symbols, ELF64_R_SYM(relocation.r_info))) return *value + addend.value;
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

// A table of relocations, with the symbols and names they refer to.
struct RelaTable {
  Bytes entries;
  Bytes symbols;
  Bytes names;
  bool symbols_end_is_known = false;  // without section headers they reach to the end of their segment
};

template <typename VisitEntry>
void for_each_rela(const RelaTable& table, VisitEntry visit) {
  for (uint64_t at = 0; at + sizeof(Elf64_Rela) <= table.entries.size(); at += sizeof(Elf64_Rela))
    visit(*load<Elf64_Rela>(table.entries, at));
}

void visit_rela(const RelaTable& table, const Visit& visit) {
  for_each_rela(table, [&](const Elf64_Rela& relocation) {
    if (auto value = stored_value(relocation, table.symbols)) visit({FileAddr(relocation.r_offset), *value});
  });
}

std::string_view symbol_name(const RelaTable& table, uint64_t index) {
  if (index == 0 || index > table.symbols.size() / sizeof(Elf64_Sym)) return {};
  auto symbol = load<Elf64_Sym>(table.symbols, index * sizeof(Elf64_Sym));
  return symbol ? without_version(c_string(table.names, symbol->st_name)) : std::string_view();
}

void visit_slots(const RelaTable& table, const std::function<void(const FunctionSlot&)>& visit) {
  for_each_rela(table, [&](const Elf64_Rela& relocation) {
    FileAddr place(relocation.r_offset);
    switch (ELF64_R_TYPE(relocation.r_info)) {
      case machine::kRelocateIndirect:
        return visit({place, {}, FileAddr(static_cast<uint64_t>(relocation.r_addend))});
      case machine::kRelocateWord:
        if (relocation.r_addend != 0) return;
        [[fallthrough]];
      case machine::kRelocateGlobal:
      case machine::kRelocateJumpSlot:
        if (auto name = symbol_name(table, ELF64_R_SYM(relocation.r_info)); !name.empty())
          visit({place, name, FileAddr(0)});
    }
  });
}

// The linker copies a variable once, whatever its names: environ lies where __environ is copied to.
void visit_copy(const RelaTable& table, const Elf64_Rela& relocation,
                const std::function<void(const BoundVariable&)>& visit) {
  const FileAddr place(relocation.r_offset);
  const uint64_t named = ELF64_R_SYM(relocation.r_info);
  if (auto name = symbol_name(table, named); !name.empty()) visit({name, place});
  for (uint64_t i = 1; table.symbols_end_is_known && i < table.symbols.size() / sizeof(Elf64_Sym); ++i) {
    const auto symbol = load<Elf64_Sym>(table.symbols, i * sizeof(Elf64_Sym));
    if (i == named || symbol->st_shndx == SHN_UNDEF || symbol->st_value != place.value) continue;
    if (auto name = symbol_name(table, i); !name.empty()) visit({name, place});
  }
}

void visit_bound(const RelaTable& table, const std::function<void(const BoundVariable&)>& visit) {
  for_each_rela(table, [&](const Elf64_Rela& relocation) {
    const uint64_t type = ELF64_R_TYPE(relocation.r_info);
    if (type == machine::kRelocateCopy) return visit_copy(table, relocation, visit);
    if (type != machine::kRelocateGlobal) return;
    if (auto name = symbol_name(table, ELF64_R_SYM(relocation.r_info)); !name.empty())
      visit({name, FileAddr(relocation.r_offset), true});
  });
}

void visit_place(const ElfFile& file, FileAddr place, const Visit& visit) {
  if (auto value = load<uint64_t>(file.bytes({place, place + 8}), 0)) visit({place, FileAddr(*value)});
}

// An even entry is a place; an odd one is a bitmap of which of the 63 words after the last place are places
// too. The value is what stands there.
void visit_relr(const ElfFile& file, Bytes table, const Visit& visit) {
  constexpr uint64_t kPlacesPerBitmap = 63;
  FileAddr next;
  for (uint64_t at = 0; at + 8 <= table.size(); at += 8) {
    uint64_t entry = *load<uint64_t>(table, at);
    if (!(entry & 1)) {
      visit_place(file, FileAddr(entry), visit);
      next = FileAddr(entry) + 8;
      continue;
    }
    for (uint64_t bit = 1; bit <= kPlacesPerBitmap; ++bit)
      if (entry >> bit & 1) visit_place(file, next + (bit - 1) * 8, visit);
    next = next + kPlacesPerBitmap * 8;
  }
}

Bytes dynamic_table(const ElfFile& file, int64_t address_tag, int64_t size_tag) {
  auto address = dynamic_value(file, address_tag), size = dynamic_value(file, size_tag);
  return address && size ? clamped(file.bytes_from(FileAddr(*address)), 0, *size) : Bytes{};
}

std::vector<RelaTable> dynamic_tables(const ElfFile& file) {
  auto symtab = dynamic_value(file, DT_SYMTAB);
  Bytes symbols = symtab ? file.bytes_from(FileAddr(*symtab)) : Bytes{};
  Bytes names = dynamic_table(file, DT_STRTAB, DT_STRSZ);
  return {{dynamic_table(file, DT_RELA, DT_RELASZ), symbols, names},
          {dynamic_table(file, DT_JMPREL, DT_PLTRELSZ), symbols, names}};
}

std::vector<RelaTable> rela_tables(const ElfFile& file) {
  auto sections = file.sections();
  if (sections.empty()) return dynamic_tables(file);
  auto linked = [&](const Section& section) {
    return section.link < sections.size() ? &sections[section.link] : nullptr;
  };
  std::vector<RelaTable> tables;
  for (const Section& section : sections) {
    if (!(section.flags & SHF_ALLOC) || section.type != SHT_RELA) continue;
    const Section* symbols = linked(section);
    const Section* names = symbols ? linked(*symbols) : nullptr;
    tables.push_back({file.section_bytes(section), symbols ? file.section_bytes(*symbols) : Bytes{},
                      names ? file.section_bytes(*names) : Bytes{}, true});
  }
  return tables;
}

}  // namespace

void for_each_stored_pointer(const ElfFile& file, const Visit& visit) {
  for (const RelaTable& table : rela_tables(file)) visit_rela(table, visit);
  if (file.sections().empty()) visit_relr(file, dynamic_table(file, kDtRelr, kDtRelrsz), visit);
  for (const Section& section : file.sections())
    if ((section.flags & SHF_ALLOC) && section.type == kShtRelr)
      visit_relr(file, file.section_bytes(section), visit);
}

void for_each_bound_variable(const ElfFile& file, const std::function<void(const BoundVariable&)>& visit) {
  for (const RelaTable& table : rela_tables(file)) visit_bound(table, visit);
}

void for_each_function_slot(const ElfFile& file, const std::function<void(const FunctionSlot&)>& visit) {
  for (const RelaTable& table : rela_tables(file)) visit_slots(table, visit);
}

}  // namespace blip::elf
