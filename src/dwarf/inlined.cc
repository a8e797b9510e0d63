// SPDX-License-Identifier: MIT
// First the functions that were inlined somewhere are found, by name: they have an abstract entry. Then the
// code of the units that hold one is looked through for copies; if the program was optimized as a whole
// (LTO), abstract entries are in units without code, and all code is looked through.
#include "dwarf/inlined.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace blip::dwarf {

namespace {

class Search {
 public:
  Search(Module& module, const std::function<bool(std::string_view)>& wanted)
      : module_(module), wanted_(wanted) {}

  std::vector<InlinedInstance> run() {
    std::vector<Dwarf_Die> with_copies;
    bool is_whole_program = false;
    for (const Dwarf_Die& unit : module_.units()) {
      const size_t before = abstract_.size();
      collect_abstract(unit, 0);
      if (abstract_.size() == before) continue;
      with_copies.push_back(unit);
      is_whole_program |= !has(unit, DW_AT_low_pc) && !has(unit, DW_AT_ranges);
    }
    if (abstract_.empty()) return {};
    for (const Dwarf_Die& unit : is_whole_program ? module_.units() : with_copies)
      for (const Dwarf_Die& function : module_.unit_of(unit).functions()) look_into(function, function, 0);
    std::sort(found_.begin(), found_.end(),
              [](const InlinedInstance& a, const InlinedInstance& b) { return a.pc < b.pc; });
    return std::move(found_);
  }

 private:
  bool is_wanted(const Dwarf_Die& die) {
    const std::string_view name = name_of(die);
    if (!name.empty() && wanted_(name)) return true;
    auto mangled = attribute(die, DW_AT_linkage_name);
    const char* text = mangled ? ::dwarf_formstring(&*mangled) : nullptr;
    return text && wanted_(text);
  }

  void collect_abstract(const Dwarf_Die& parent, int depth) {
    if (depth > kDeepestEntry) return;
    for_each_child(parent, budget_, [&](const Dwarf_Die& die) {
      const int tag = tag_of(die);
      if (tag == DW_TAG_subprogram && has(die, DW_AT_inline) && is_abstract_and_wanted(die))
        abstract_.emplace(die.addr, die);
      if (tag == DW_TAG_namespace || tag == DW_TAG_structure_type || tag == DW_TAG_class_type)
        collect_abstract(die, depth + 1);
      return true;
    });
  }

  // Whole names take an index of the unit, so they are asked for last.
  bool is_abstract_and_wanted(const Dwarf_Die& die) {
    if (is_wanted(die)) return true;
    const std::string whole = module_.whole_name(die);
    return !whole.empty() && wanted_(whole);
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
    const auto entry = entry_of(die);
    if (!entry || *entry == 0) return;
    found_.push_back({.pc = FileAddr(*entry),
                      .function = module_.whole_name(abstract),
                      .caller = module_.whole_name(caller),
                      .key = reinterpret_cast<uint64_t>(die.addr)});
  }

  Module& module_;
  const std::function<bool(std::string_view)>& wanted_;
  Budget budget_{kMostEntries};
  std::unordered_map<const void*, Dwarf_Die> abstract_;
  std::vector<InlinedInstance> found_;
};

}  // namespace

std::vector<InlinedInstance> find_inlined(Module& module,
                                          const std::function<bool(std::string_view)>& wanted) {
  return Search(module, wanted).run();
}

}  // namespace blip::dwarf
