// SPDX-License-Identifier: MIT
// The units that are worth reading for a name.
#include <algorithm>
#include <set>

#include "dwarf/identifier.h"
#include "dwarf/module.h"

namespace blip::dwarf {

namespace {

std::vector<Dwarf_Die> units_of(Dwarf* dwarf) {
  std::vector<Dwarf_Die> units;
  Dwarf_CU* at = nullptr;
  Dwarf_CU* next = nullptr;
  Dwarf_Die unit;
  while (::dwarf_get_units(dwarf, at, &next, nullptr, nullptr, &unit, nullptr) == 0) {
    if (unit.addr) units.push_back(unit);
    at = next;
  }
  return units;
}

bool is_skeleton(const Dwarf_Die& unit) { return has(unit, DW_AT_dwo_name) || has(unit, DW_AT_GNU_dwo_name); }

}  // namespace

// Types of DWARF 4 may be in a section of their own, which libdw lists behind the others.
size_t Module::unit_around(uint64_t offset) const {
  const auto end = std::is_sorted_until(offsets_.begin(), offsets_.end());
  const auto after = std::upper_bound(offsets_.begin(), end, offset);
  return after == offsets_.begin() ? 0 : static_cast<size_t>(after - offsets_.begin()) - 1;
}

// Where the tables of units that number their strings begin; sorted.
std::vector<std::pair<uint64_t, size_t>> Module::string_tables() const {
  std::vector<std::pair<uint64_t, size_t>> tables;
  for (size_t i = 0; i < units_.size(); ++i)
    if (auto base = own_attribute(units_[i], DW_AT_str_offsets_base)) {
      Dwarf_Word offset = 0;
      if (::dwarf_formudata(&*base, &offset) == 0) tables.emplace_back(offset, i);
    }
  std::sort(tables.begin(), tables.end());
  return tables;
}

std::vector<Dwarf_Die> Module::units_naming(std::string_view name) {
  const std::string_view identifier = identifier_in(name);
  if (identifier.empty()) return units_;
  if (!mentions_) mentions_.emplace(debug_.elf.get(), alternate_.elf.get());
  const Mentions::Places places = mentions_->of_name(identifier);
  std::set<size_t> chosen;
  for (uint64_t at : places.info) chosen.insert(unit_around(at));
  if (!places.slots.empty()) {
    const auto tables = string_tables();
    for (uint64_t at : places.slots) {
      const auto after = std::upper_bound(tables.begin(), tables.end(), std::pair(at, SIZE_MAX));
      if (after != tables.begin()) chosen.insert(std::prev(after)->second);
    }
  }
  for (auto i =
           static_cast<size_t>(std::is_sorted_until(offsets_.begin(), offsets_.end()) - offsets_.begin());
       i < units_.size(); ++i)
    chosen.insert(i);
  if (may_open_)
    for (size_t i = 0; i < units_.size(); ++i)
      if (is_skeleton(units_[i])) chosen.insert(i);
  std::vector<Dwarf_Die> result;
  for (size_t i : chosen)
    if (i < units_.size()) result.push_back(units_[i]);
  if (!alternate_.dwarf) return result;
  if (alternate_units_.empty()) alternate_units_ = units_of(alternate_.dwarf.get());
  if (!alternate_mentions_) alternate_mentions_.emplace(alternate_.elf.get(), nullptr);
  std::vector<uint64_t> offsets;
  for (const Dwarf_Die& unit : alternate_units_)
    offsets.push_back(::dwarf_dieoffset(const_cast<Dwarf_Die*>(&unit)));
  std::set<size_t> others;
  for (uint64_t at : alternate_mentions_->of_name(identifier).info)
    if (const auto after = std::upper_bound(offsets.begin(), offsets.end(), at); after != offsets.begin())
      others.insert(static_cast<size_t>(after - offsets.begin()) - 1);
  for (size_t i : others) result.push_back(alternate_units_[i]);
  return result;
}

std::vector<Dwarf_Die> Module::units_referring_to(std::span<const Dwarf_Die> entries) {
  if (!mentions_) mentions_.emplace(debug_.elf.get(), alternate_.elf.get());
  std::vector<uint64_t> offsets;
  for (const Dwarf_Die& entry : entries) offsets.push_back(::dwarf_dieoffset(const_cast<Dwarf_Die*>(&entry)));
  std::set<size_t> chosen;
  for (uint64_t at : mentions_->of_entries(offsets)) chosen.insert(unit_around(at));
  std::vector<Dwarf_Die> result;
  for (size_t i : chosen)
    if (i < units_.size()) result.push_back(units_[i]);
  return result;
}

}  // namespace blip::dwarf
