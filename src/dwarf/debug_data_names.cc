// SPDX-License-Identifier: MIT
// The units that are worth reading for a name.
#include <algorithm>
#include <set>

#include "dwarf/debug_data.h"
#include "dwarf/index/identifier.h"

namespace blip::dwarf {

std::optional<size_t> DebugData::unit_around(uint64_t offset, size_t first, size_t last) const {
  const auto begin = offsets_.begin() + static_cast<ptrdiff_t>(first);
  const auto after = std::upper_bound(begin, offsets_.begin() + static_cast<ptrdiff_t>(last), offset);
  return after == begin ? std::nullopt : std::optional(static_cast<size_t>(after - offsets_.begin()) - 1);
}

std::vector<Dwarf_Die> DebugData::chosen_units(const std::set<size_t>& chosen) {
  std::vector<Dwarf_Die> result;
  for (size_t i : chosen)
    if (const Dwarf_Die found = unit(i); found.addr) result.push_back(found);
  return result;
}

// The offsets of the string tables of units that number their strings; sorted.
std::vector<std::pair<uint64_t, size_t>> DebugData::string_tables() {
  std::vector<std::pair<uint64_t, size_t>> tables;
  for (size_t i = 0; i < own_units_; ++i)
    if (auto base = unit(i).addr ? own_attribute(unit(i), DW_AT_str_offsets_base) : std::nullopt) {
      Dwarf_Word offset = 0;
      if (::dwarf_formudata(&*base, &offset) == 0) tables.emplace_back(offset, i);
    }
  std::sort(tables.begin(), tables.end());
  return tables;
}

std::set<size_t> DebugData::search_units(std::string_view identifier) {
  if (!mentions_) mentions_.emplace(debug_.elf.get(), alternate());
  const Mentions::Places places = mentions_->of_name(identifier);
  std::set<size_t> chosen;
  for (uint64_t at : places.info)
    if (const auto unit = unit_around(at, 0, ordered_units_)) chosen.insert(*unit);
  if (!places.slots.empty()) {
    const auto tables = string_tables();
    for (uint64_t at : places.slots) {
      const auto after = std::upper_bound(tables.begin(), tables.end(), std::pair(at, SIZE_MAX));
      if (after != tables.begin()) chosen.insert(std::prev(after)->second);
    }
  }
  return chosen;
}

std::vector<Dwarf_Die> DebugData::units_naming(std::string_view name, IndexedNames kind) {
  const std::string_view identifier = identifier_in(name);
  if (identifier.empty()) return units();
  const NameIndex* index = make_index();
  const auto known = index ? index->units_with(kind, identifier) : std::nullopt;
  std::set<size_t> chosen;
  if (known)
    chosen.insert(known->begin(), known->end());
  else
    chosen = search_units(identifier);
  for (size_t i = ordered_units_; i < own_units_; ++i) chosen.insert(i);
  if (may_open_) add_skeletons(chosen);
  if (alternate()) {
    if (!alternate_mentions_) alternate_mentions_.emplace(alternate(), nullptr);
    for (uint64_t at : alternate_mentions_->of_name(identifier).info)
      if (const auto unit = unit_around(at, own_units_, units_.size())) chosen.insert(*unit);
  }
  return chosen_units(chosen);
}

std::vector<Dwarf_Die> DebugData::units_referring_to(std::span<const Dwarf_Die> entries) {
  std::vector<uint64_t> offsets;
  for (const Dwarf_Die& entry : entries) offsets.push_back(::dwarf_dieoffset(const_cast<Dwarf_Die*>(&entry)));
  std::set<size_t> chosen;
  if (const NameIndex* index = make_index()) {
    const auto known = index->units_referring_to(offsets);
    chosen.insert(known.begin(), known.end());
    return chosen_units(chosen);
  }
  if (!mentions_) mentions_.emplace(debug_.elf.get(), alternate());
  for (uint64_t at : mentions_->of_entries(offsets))
    if (const auto unit = unit_around(at, 0, ordered_units_)) chosen.insert(*unit);
  return chosen_units(chosen);
}

}  // namespace blip::dwarf
