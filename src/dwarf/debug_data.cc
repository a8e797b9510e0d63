// SPDX-License-Identifier: MIT
#include "dwarf/debug_data.h"

#include <gelf.h>

#include <algorithm>

namespace blip::dwarf {

namespace {

// The most bytes that are searched for definitions of types that are elsewhere.
constexpr uint64_t kMostLookedThrough = uint64_t{1} << 30;
constexpr uint64_t kLeastLookedThrough = 1 << 20;  // each time

Dwarf_Die unit_entry(const Dwarf_Die& die) {
  Dwarf_Die unit = die;
  ::dwarf_diecu(const_cast<Dwarf_Die*>(&die), &unit, nullptr, nullptr);
  return unit;
}

// Makes the path as libdw would: relative to the folder in which the compiler ran.
std::optional<std::string> split_path(const Dwarf_Die& skeleton) {
  const auto text = [&](unsigned name) -> std::string {
    auto found = own_attribute(skeleton, name);
    const char* value = found ? ::dwarf_formstring(&*found) : nullptr;
    return value ? value : "";
  };
  std::string file = text(DW_AT_dwo_name);
  if (file.empty()) file = text(DW_AT_GNU_dwo_name);
  if (file.empty()) return std::nullopt;
  return file.front() == '/' ? file : text(DW_AT_comp_dir) + "/" + file;
}

}  // namespace

Result<std::unique_ptr<DebugData>> DebugData::open(const DebugImages& images) {
  std::unique_ptr<DebugData> debug_data(new DebugData);
  debug_data->name_ = images.name;
  TRY(debug_data->debug_, open_dwarf(images.debug.empty() ? images.program : images.debug, images.alternate));
  if (!images.debug.empty()) {
    TRY(debug_data->program_, open_elf_file(images.program));
  }
  debug_data->may_open_ = images.may_open;
  debug_data->index_ = KeptIndex(debug_data->debug_, images.cache);
  debug_data->index_units();
  if (debug_data->units_.empty()) return Error(ErrorKind::kNotFound, "it has no debugging information");
  debug_data->frames_ = std::make_unique<FrameTable>(debug_data->program(), debug_data->debug_.dwarf.get());
  return debug_data;
}

// By the ranges that units have themselves: .debug_aranges is not written by all compilers.
void DebugData::index_units() {
  if (const NameIndex* index = index_.get())
    use_index(*index);
  else
    add_units(debug_.dwarf.get());
  own_units_ = units_.size();
  // Types of DWARF 4 may be in a section of their own, which libdw lists behind the others.
  ordered_units_ =
      static_cast<size_t>(std::is_sorted_until(offsets_.begin(), offsets_.end()) - offsets_.begin());
  if (debug_.alternate) add_units(debug_.alternate->dwarf.get());
  std::stable_sort(ranges_.begin(), ranges_.end(),
                   [](const IndexedRange& a, const IndexedRange& b) { return a.code.begin < b.code.begin; });
}

void DebugData::add_units(Dwarf* dwarf) {
  Dwarf_CU* at = nullptr;
  Dwarf_CU* next = nullptr;
  Dwarf_Die unit;
  while (::dwarf_get_units(dwarf, at, &next, nullptr, nullptr, &unit, nullptr) == 0) {
    if (unit.addr) add_unit(unit);
    at = next;
  }
}

// Code that the linker dropped keeps its entries, at address 0. The file that dwz made has no code.
void DebugData::add_unit(const Dwarf_Die& unit) {
  Dwarf_Addr base = 0, begin = 0, end = 0;
  for (ptrdiff_t i = 0; (i = ::dwarf_ranges(const_cast<Dwarf_Die*>(&unit), i, &base, &begin, &end)) > 0;)
    if (begin != 0 && begin < end)
      ranges_.push_back({{FileAddr(begin), FileAddr(end)}, static_cast<uint32_t>(units_.size())});
  units_.push_back(unit);
  offsets_.push_back(::dwarf_dieoffset(const_cast<Dwarf_Die*>(&unit)));
}

UnitIndex* DebugData::unit_at(FileAddr pc) {
  auto after = std::upper_bound(ranges_.begin(), ranges_.end(), pc,
                                [](FileAddr a, const IndexedRange& r) { return a < r.code.begin; });
  if (after == ranges_.begin() || !std::prev(after)->code.contains(pc)) return nullptr;
  const Dwarf_Die found = unit(std::prev(after)->unit);
  return found.addr ? &unit_of(with_code(found)) : nullptr;
}

// A unit may be a skeleton whose entries are in a file of their own (.dwo).
Dwarf_Die DebugData::with_code(const Dwarf_Die& unit) const {
  if (!may_open_ || !unit.cu) return unit;
  const auto path = split_path(unit);
  if (!path || !may_open_(*path)) return unit;
  Dwarf_Die entry, split;
  if (::dwarf_cu_info(unit.cu, nullptr, nullptr, &entry, &split, nullptr, nullptr, nullptr) != 0) return unit;
  return split.addr ? split : unit;
}

UnitIndex& DebugData::unit_of(const Dwarf_Die& die) {
  const Dwarf_Die unit = unit_entry(die);
  auto& index = indexes_[unit.addr];
  if (!index) index = std::make_unique<UnitIndex>(unit);
  return *index;
}

uint64_t DebugData::language_of(const Dwarf_Die& unit) {
  auto [known, is_new] = languages_.try_emplace(unit.addr, 0);
  if (is_new) {
    auto language = own_attribute(unit, DW_AT_language);
    Dwarf_Word value = 0;
    if (language && ::dwarf_formudata(&*language, &value) == 0) known->second = value;
  }
  return known->second;
}

uint64_t DebugData::lowest_index(const Dwarf_Die& die) {
  switch (language_of(unit_entry(die))) {
    case DW_LANG_Ada83:
    case DW_LANG_Ada95:
    case DW_LANG_Cobol74:
    case DW_LANG_Cobol85:
    case DW_LANG_Fortran77:
    case DW_LANG_Fortran90:
    case DW_LANG_Fortran95:
    case DW_LANG_Fortran03:
    case DW_LANG_Fortran08:
    case DW_LANG_Modula2:
    case DW_LANG_Pascal83:
    case DW_LANG_PLI:
      return 1;
    default:
      return 0;
  }
}

std::string DebugData::whole_name(const Dwarf_Die& die) {
  const std::string_view name = name_of(die);
  if (name.empty() || tag_of(die) == DW_TAG_base_type || is_c(language_of(unit_entry(die))))
    return std::string(name);
  return unit_of(die).whole_name(die);
}

std::optional<Dwarf_Die> DebugData::definition(const Dwarf_Die& declaration) {
  const std::string name = whole_name(declaration);
  if (name.empty()) return std::nullopt;
  const Names& near = unit_of(declaration).names();
  if (auto found = near.tags.find(name); found != near.tags.end()) return found->second;
  if (looked_through_ > kMostLookedThrough) return std::nullopt;
  looked_through_ += kLeastLookedThrough + (own_units_ == 0 ? 0 : offsets_[own_units_ - 1]);
  return find_in_units(name, [&](const Names& names) -> std::optional<Dwarf_Die> {
    auto found = names.tags.find(name);
    if (found == names.tags.end() || tag_of(found->second) != tag_of(declaration)) return std::nullopt;
    return found->second;
  });
}

const EntrySymbols& DebugData::entry_symbols() {
  if (!entry_symbols_) entry_symbols_.emplace(program(), debug_.elf.get());
  return *entry_symbols_;
}

// The static block of an executable ends at the thread pointer (x86-64 is of variant II).
std::optional<uint64_t> DebugData::executable_tls_offset() const {
  Elf* elf = program();
  size_t count = 0;
  if (::elf_getphdrnum(elf, &count) != 0) return std::nullopt;
  for (size_t i = 0; i < count; ++i) {
    GElf_Phdr header;
    if (!::gelf_getphdr(elf, static_cast<int>(i), &header) || header.p_type != PT_TLS) continue;
    const uint64_t alignment = std::max<uint64_t>(header.p_align, 1);
    return (header.p_memsz + alignment - 1) / alignment * alignment;
  }
  return std::nullopt;
}

}  // namespace blip::dwarf
