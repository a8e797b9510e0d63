// SPDX-License-Identifier: MIT
// With an index units are known by their offsets, and libdw looks only at those that are asked for.
#include "dwarf/debug_data.h"

namespace blip::dwarf {

namespace {

bool is_skeleton(const Dwarf_Die& unit) { return has(unit, DW_AT_dwo_name) || has(unit, DW_AT_GNU_dwo_name); }

uint32_t flags_of(const Dwarf_Die& unit) {
  return (is_skeleton(unit) ? IndexedUnit::kIsSkeleton : 0u) |
         (has(unit, DW_AT_stmt_list) ? IndexedUnit::kHasLines : 0u);
}

}  // namespace

void DebugData::use_index(const NameIndex& index) {
  for (const IndexedUnit& unit : index.units()) offsets_.push_back(unit.entry);
  units_.resize(offsets_.size());
  for (const IndexedRange& range : index.ranges())
    if (range.unit < units_.size()) ranges_.push_back(range);
}

const NameIndex* DebugData::make_index() {
  if (!index_.can_be_made()) return index_.get();
  std::vector<IndexedUnit> units;
  for (size_t i = 0; i < own_units_; ++i) units.push_back({offsets_[i], flags_of(units_[i])});
  std::vector<IndexedRange> ranges;
  for (const IndexedRange& range : ranges_)
    if (range.unit < own_units_) ranges.push_back(range);
  return index_.make(units, ranges);
}

// Without an address: the index was wrong, there is no unit.
Dwarf_Die DebugData::unit(size_t number) {
  Dwarf_Die& die = units_[number];
  if (die.addr || number >= own_units_) return die;
  Dwarf_Die unit, found;
  if (::dwarf_offdie(debug_.dwarf.get(), offsets_[number], &found) &&
      ::dwarf_diecu(&found, &unit, nullptr, nullptr) && unit.addr == found.addr)
    die = found;
  return die;
}

std::vector<Dwarf_Die> DebugData::units() {
  std::set<size_t> all;
  for (size_t i = 0; i < units_.size(); ++i) all.insert(all.end(), i);
  return chosen_units(all);
}

void DebugData::add_skeletons(std::set<size_t>& chosen) {
  const NameIndex* index = index_.get();
  for (size_t i = 0; i < own_units_; ++i) {
    const bool is_one = index ? index->units()[i].flags & IndexedUnit::kIsSkeleton : is_skeleton(units_[i]);
    if (is_one) chosen.insert(i);
  }
}

}  // namespace blip::dwarf
