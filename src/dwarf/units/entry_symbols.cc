// SPDX-License-Identifier: MIT
#include "dwarf/units/entry_symbols.h"

#include <gelf.h>

#include <algorithm>
#include <array>

namespace blip::dwarf {

namespace {

// Suffixes that compilers give to functions whose parameters stay what they are.
constexpr std::array<std::string_view, 5> kHarmless = {"lto_priv", "localalias", "llvm", "__uniq", "default"};
// The same function for several processors: __attribute__((target_clones)).
constexpr std::array<std::string_view, 3> kProcessors = {"arch_", "avx", "sse"};

bool is_harmless(std::string_view suffix) {
  const bool is_number = suffix.find_first_not_of("0123456789") == std::string_view::npos;
  return is_number || std::find(kHarmless.begin(), kHarmless.end(), suffix) != kHarmless.end() ||
         std::any_of(kProcessors.begin(), kProcessors.end(),
                     [&](std::string_view prefix) { return suffix.starts_with(prefix); });
}

// Hidden functions of object files are local in what they are linked into, and keep their mark.
EntrySymbols::Kind kind_of(const GElf_Sym& symbol, std::string_view name) {
  using Kind = EntrySymbols::Kind;
  if (const Kind copy = copy_kind(name); copy != Kind::kNone) return copy;
  const auto visibility = GELF_ST_VISIBILITY(symbol.st_other);
  const bool was_visible = visibility == STV_HIDDEN || visibility == STV_INTERNAL;
  return GELF_ST_BIND(symbol.st_info) == STB_LOCAL && !was_visible ? Kind::kLocal : Kind::kVisible;
}

}  // namespace

EntrySymbols::Kind copy_kind(std::string_view symbol) {
  using Kind = EntrySymbols::Kind;
  if (symbol.starts_with("_ZGV")) return Kind::kChanged;  // with vectors instead of numbers: declare simd
  Kind kind = Kind::kNone;
  for (size_t dot = symbol.find('.', 1); dot != std::string_view::npos;) {
    const size_t next = symbol.find('.', dot + 1);
    const std::string_view suffix = symbol.substr(dot + 1, next - dot - 1);
    if (suffix == "constprop")
      kind = Kind::kSpecialized;
    else if (!is_harmless(suffix))
      return Kind::kChanged;
    dot = next;
  }
  return kind;
}

EntrySymbols::EntrySymbols(Elf* program, Elf* debug) {
  read(program);
  if (debug != program) read(debug);
  std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    return a.address != b.address ? a.address < b.address : a.kind > b.kind;
  });
}

void EntrySymbols::read(Elf* elf) {
  if (!elf) return;
  for (Elf_Scn* section = nullptr; (section = ::elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (!::gelf_getshdr(section, &header)) continue;
    if ((header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM) || header.sh_entsize == 0) continue;
    Elf_Data* data = ::elf_getdata(section, nullptr);
    if (!data) continue;
    GElf_Sym symbol;
    for (int i = 0; ::gelf_getsym(data, i, &symbol); ++i) {
      const auto type = GELF_ST_TYPE(symbol.st_info);
      if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol.st_value == 0) continue;
      const char* name = ::elf_strptr(elf, header.sh_link, symbol.st_name);
      if (name) entries_.push_back({symbol.st_value, kind_of(symbol, name)});
    }
  }
}

EntrySymbols::Kind EntrySymbols::at(FileAddr entry) const {
  const auto found = std::lower_bound(entries_.begin(), entries_.end(), entry.value,
                                      [](const Entry& a, uint64_t address) { return a.address < address; });
  return found != entries_.end() && found->address == entry.value ? found->kind : Kind::kNone;
}

}  // namespace blip::dwarf
