// SPDX-License-Identifier: MIT
// First the functions that were inlined somewhere are found, by name: they have an abstract entry. Then the
// code of the units that hold one is looked through for copies, and that of units that refer to it: if the
// program was optimized as a whole (LTO), or made smaller by dwz, abstract entries are elsewhere.
#include "dwarf/inlined.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "dwarf/index/identifier.h"
#include "dwarf/units/instance_entry.h"

namespace blip::dwarf {

namespace {

// Whole-program optimization writes entries before it knows what will be inlined (DW_AT_inline).
bool is_abstract(const Dwarf_Die& function) {
  if (has(function, DW_AT_inline)) return true;
  return !has(function, DW_AT_low_pc) && !has(function, DW_AT_ranges) &&
         !has(function, DW_AT_abstract_origin) && !flag(function, DW_AT_declaration);
}

uint64_t size_of(const Dwarf_Die& die) {
  Dwarf_Addr base = 0, begin = 0, end = 0;
  uint64_t size = 0;
  for (ptrdiff_t i = 0; (i = ::dwarf_ranges(const_cast<Dwarf_Die*>(&die), i, &base, &begin, &end)) > 0;)
    if (begin < end) size += end - begin;
  return size;
}

class Search {
 public:
  Search(DebugData& debug_data, const InlinedName& name) : debug_data_(debug_data), name_(name) {}

  std::vector<InlinedInstance> run() {
    std::vector<Dwarf_Die> units;
    for (const Dwarf_Die& unit : debug_data_.units_naming(name_.identifier, IndexedNames::kInlined)) {
      const size_t before = abstract_.size();
      const Dwarf_Die with_code = debug_data_.with_code(unit);
      collect_abstract(with_code, 0);
      if (abstract_.size() != before) units.push_back(with_code);
    }
    if (abstract_.empty()) return {};
    std::vector<Dwarf_Die> entries;
    for (const auto& [address, die] : abstract_) entries.push_back(die);
    for (const Dwarf_Die& unit : debug_data_.units_referring_to(entries))
      units.push_back(debug_data_.with_code(unit));
    std::unordered_set<const void*> seen;
    for (const Dwarf_Die& unit : units)
      if (seen.insert(unit.addr).second)
        for (const Dwarf_Die& function : debug_data_.unit_of(unit).functions())
          look_into(function, function, 0);
    const auto at = [](const InlinedInstance& i) { return std::tuple(i.pc, std::string_view(i.function)); };
    std::stable_sort(found_.begin(), found_.end(),
                     [&](const auto& a, const auto& b) { return at(a) < at(b); });
    const auto same = [&](const auto& a, const auto& b) { return at(a) == at(b); };
    found_.erase(std::unique(found_.begin(), found_.end(), same), found_.end());
    return std::move(found_);
  }

 private:
  // Whole names take an index of the unit, so they are asked for last.
  bool is_wanted(const Dwarf_Die& die) {
    const std::string_view name = name_of(die);
    auto attribute_found = attribute(die, DW_AT_linkage_name);
    const char* text = attribute_found ? ::dwarf_formstring(&*attribute_found) : nullptr;
    const std::string_view mangled = text ? text : "";
    if (!name_.identifier.empty() && identifier_in(name) != name_.identifier && mangled != name_.identifier)
      return false;
    if (!mangled.empty() && name_.fits(mangled)) return true;
    const std::string whole = debug_data_.whole_name(die);
    return !whole.empty() && name_.fits(whole);
  }

  void collect_abstract(const Dwarf_Die& parent, int depth) {
    if (depth > kDeepestEntry) return;
    for_each_child(parent, budget_, [&](const Dwarf_Die& die) {
      const int tag = tag_of(die);
      if (tag == DW_TAG_subprogram && is_abstract(die) && is_wanted(die)) abstract_.emplace(die.addr, die);
      if (tag == DW_TAG_namespace || tag == DW_TAG_structure_type || tag == DW_TAG_class_type)
        collect_abstract(die, depth + 1);
      return true;
    });
  }

  void look_into(const Dwarf_Die& scope, const Dwarf_Die& caller, int depth) {
    if (depth > kDeepestEntry) return;
    for_each_child(scope, budget_, [&](const Dwarf_Die& die) {
      const int tag = tag_of(die);
      if (tag == DW_TAG_inlined_subroutine) add(die, caller);
      if (tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block || tag == DW_TAG_try_block ||
          tag == DW_TAG_catch_block)
        look_into(die, caller, depth + 1);
      return true;
    });
  }

  void add(const Dwarf_Die& die, const Dwarf_Die& caller) {
    const auto origin = own_attribute(die, DW_AT_abstract_origin);
    Dwarf_Die abstract;
    Dwarf_Attribute reference;
    if (!origin) return;
    reference = *origin;
    if (!::dwarf_formref_die(&reference, &abstract) || !abstract_.count(abstract.addr)) return;
    const auto entry = instance_entry(die, debug_data_.unit_of(caller).unit());
    if (!entry) return;
    found_.push_back({.pc = *entry,
                      .size = size_of(die),
                      .function = debug_data_.whole_name(abstract),
                      .caller = debug_data_.whole_name(caller),
                      .key = reinterpret_cast<uint64_t>(die.addr)});
  }

  DebugData& debug_data_;
  const InlinedName& name_;
  Budget budget_{kMostEntries};
  std::unordered_map<const void*, Dwarf_Die> abstract_;
  std::vector<InlinedInstance> found_;
};

}  // namespace

std::vector<InlinedInstance> find_inlined(DebugData& debug_data, const InlinedName& name) {
  return Search(debug_data, name).run();
}

}  // namespace blip::dwarf
