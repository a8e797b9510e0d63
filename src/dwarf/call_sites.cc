// SPDX-License-Identifier: MIT
#include "dwarf/call_sites.h"

#include <set>

#include "dwarf/debug_data.h"

namespace blip::dwarf {

namespace {

constexpr uint64_t kMostSitesEntries = 1'000'000;  // of one function

// The attribute under its name of DWARF 5, or under the one that it had before.
std::optional<Dwarf_Attribute> either(const Dwarf_Die& die, unsigned name, unsigned before) {
  auto found = own_attribute(die, name);
  return found ? found : own_attribute(die, before);
}

std::optional<uint64_t> address(const Dwarf_Die& die, unsigned name) {
  auto found = own_attribute(die, name);
  Dwarf_Addr value = 0;
  if (!found || ::dwarf_formaddr(&*found, &value) != 0) return std::nullopt;
  return value;
}

bool is_call(int tag) { return tag == DW_TAG_call_site || tag == DW_TAG_GNU_call_site; }

bool is_parameter(const Dwarf_Die& die) {
  return tag_of(die) == DW_TAG_call_site_parameter || tag_of(die) == DW_TAG_GNU_call_site_parameter;
}

bool is_in_register(const Dwarf_Die& parameter, unsigned wanted) {
  auto location = own_attribute(parameter, DW_AT_location);
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  if (!location || ::dwarf_getlocation(&*location, &ops, &count) != 0 || count != 1) return false;
  if (ops[0].atom == DW_OP_regx) return ops[0].number == wanted;
  return ops[0].atom == DW_OP_reg0 + wanted && wanted < 32;
}

bool is_same(const Dwarf_Die& a, const Dwarf_Die& b) { return original(a).addr == original(b).addr; }

// Compilers that tell of jumps to other functions at all say that they tell of all.
bool tells_all_jumps(const Dwarf_Die& function) {
  return flag(function, DW_AT_call_all_calls) || flag(function, DW_AT_call_all_tail_calls) ||
         flag(function, DW_AT_GNU_all_call_sites) || flag(function, DW_AT_GNU_all_tail_call_sites);
}

}  // namespace

std::optional<Dwarf_Attribute> passed_value(const CallSite& site, const EntryOperand& what) {
  std::optional<Dwarf_Attribute> value;
  for_each_child(site.die, [&](const Dwarf_Die& child) {
    if (!is_parameter(child)) return true;
    bool is_wanted = what.in_register && is_in_register(child, *what.in_register);
    if (what.parameter) {
      auto told = either(child, DW_AT_call_parameter, DW_AT_abstract_origin);
      Dwarf_Die parameter;
      is_wanted = told && ::dwarf_formref_die(&*told, &parameter) && is_same(parameter, *what.parameter);
    }
    if (is_wanted) value = either(child, DW_AT_call_value, DW_AT_GNU_call_site_value);
    return !is_wanted;
  });
  return value;
}

const CallIndex& CallSites::index() {
  if (!index_) index_.emplace(debug_data_.program());
  return *index_;
}

void CallSites::add(const Dwarf_Die& call, Sites& sites) {
  auto behind = address(call, DW_AT_call_return_pc);
  if (!behind) behind = address(call, DW_AT_low_pc);
  if (flag(call, DW_AT_call_tail_call) || flag(call, DW_AT_GNU_tail_call)) {
    const auto at = address(call, DW_AT_call_pc);
    sites.jumps.push_back(at       ? index().jump_beginning_at(FileAddr(*at))
                          : behind ? index().jump_ending_at(FileAddr(*behind))
                                   : std::nullopt);
  } else if (behind) {
    sites.calls.emplace(*behind, call);
  }
}

void CallSites::walk(const Dwarf_Die& parent, Sites& sites, Budget& budget, int depth) {
  for_each_child(parent, budget, [&](const Dwarf_Die& child) {
    const int tag = tag_of(child);
    if (is_call(tag)) add(child, sites);
    const bool is_block = tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine ||
                          tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
    if (is_block && depth < kDeepestEntry) walk(child, sites, budget, depth + 1);
    return true;
  });
}

const CallSites::Sites& CallSites::of(const Dwarf_Die& function) {
  const auto [known, is_new] = known_.try_emplace(function.addr);
  if (!is_new) return known->second;
  Sites sites;
  Budget budget(kMostSitesEntries);
  walk(function, sites, budget, 0);
  return known_[function.addr] = std::move(sites);
}

std::optional<Dwarf_Die> CallSites::function_around(FileAddr pc) {
  const UnitIndex* unit = debug_data_.unit_at(pc);
  return unit ? unit->function_at(pc) : std::nullopt;
}

// A call may be the last instruction of its function.
std::optional<CallSite> CallSites::returning_to(FileAddr pc) {
  const auto function = function_around(FileAddr(pc.value - 1));
  if (!function) return std::nullopt;
  const Sites& sites = of(*function);
  const auto found = sites.calls.find(pc.value);
  if (found == sites.calls.end()) return std::nullopt;
  return CallSite{found->second, *function};
}

std::optional<Dwarf_Die> CallSites::caller_at(FileAddr pc) {
  if (const auto site = returning_to(pc)) return site->function;
  const auto function = function_around(FileAddr(pc.value - 1));
  return function && !tells_all_jumps(*function) && of(*function).calls.empty() ? function : std::nullopt;
}

bool CallSites::may_become_itself(const Dwarf_Die& function) {
  const auto [known, is_new] = itself_.try_emplace(function.addr, true);
  if (is_new) known->second = search_itself(function);
  return known->second;
}

bool CallSites::search_itself(const Dwarf_Die& function) {
  constexpr size_t kMostFunctions = 256;
  std::set<const void*> seen;
  std::vector<Dwarf_Die> left{function};
  while (!left.empty()) {
    const Dwarf_Die at = left.back();
    left.pop_back();
    if (!tells_all_jumps(at) || seen.size() > kMostFunctions) return true;
    for (const auto& jump : of(at).jumps) {
      const auto next = jump ? function_around(*jump) : std::nullopt;
      if (!next || entry_of(*next) != jump->value || next->addr == function.addr) return true;
      if (seen.insert(next->addr).second) left.push_back(*next);
    }
  }
  return false;
}

}  // namespace blip::dwarf
