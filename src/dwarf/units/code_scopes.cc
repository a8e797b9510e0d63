// SPDX-License-Identifier: MIT
#include "dwarf/units/code_scopes.h"

#include <set>

namespace blip::dwarf {

namespace {

bool is_block(int tag) {
  return tag == DW_TAG_lexical_block || tag == DW_TAG_try_block || tag == DW_TAG_catch_block ||
         tag == DW_TAG_with_stmt;
}

std::optional<Dwarf_Die> child_at(const Dwarf_Die& parent, FileAddr pc, bool into_inlined) {
  std::optional<Dwarf_Die> found;
  for_each_child(parent, [&](const Dwarf_Die& child) {
    const int tag = tag_of(child);
    if (!is_block(tag) && !(into_inlined && tag == DW_TAG_inlined_subroutine)) return true;
    if (contains(child, pc.value)) found = child;
    return !found;
  });
  return found;
}

// Go's results are parameters that are marked; a value they get only in the end.
bool is_wanted(const Dwarf_Die& die, Declared what) {
  const int tag = tag_of(die);
  const bool is_parameter = tag == DW_TAG_formal_parameter && !flag(die, DW_AT_variable_parameter);
  return what == Declared::kParameters
             ? is_parameter
             : tag == DW_TAG_variable || (tag == DW_TAG_formal_parameter && !is_parameter);
}

// Packs of variadic templates hold their parameters one level deeper.
void collect(const Dwarf_Die& scope, Declared what, std::vector<Dwarf_Die>& into, int depth = 0) {
  constexpr size_t kMost = 4096;
  for_each_child(scope, [&](const Dwarf_Die& child) {
    const int tag = tag_of(child);
    if (is_wanted(child, what)) into.push_back(child);
    if (tag == DW_TAG_GNU_formal_parameter_pack && depth == 0) collect(child, what, into, depth + 1);
    return into.size() < kMost;
  });
}

}  // namespace

CodeScopes code_scopes(const Dwarf_Die& function, FileAddr pc, const ScopeChoice& choice) {
  CodeScopes scopes{.function = function, .outer = {}, .own = {function}};
  bool into_inlined = choice.into_inlined;
  for (int depth = 0; depth < kDeepestEntry; ++depth) {
    const auto next = child_at(scopes.own.back(), pc, into_inlined);
    if (!next) break;
    if (tag_of(*next) == DW_TAG_inlined_subroutine) {
      scopes.outer.insert(scopes.outer.end(), scopes.own.begin(), scopes.own.end());
      scopes.own.clear();
      if (next->addr == choice.instance) into_inlined = false;
    }
    scopes.own.push_back(*next);
  }
  return scopes;
}

std::vector<Dwarf_Die> declared_in(const Dwarf_Die& scope, Declared what) {
  std::vector<Dwarf_Die> here, all;
  collect(scope, what, here);
  const auto origin = own_attribute(scope, DW_AT_abstract_origin);
  Dwarf_Die abstract;
  Dwarf_Attribute reference;
  if (origin) reference = *origin;
  if (!origin || !::dwarf_formref_die(&reference, &abstract)) return here;
  collect(abstract, what, all);
  std::vector<const void*> origins;
  for (const Dwarf_Die& die : here) origins.push_back(original(die).addr);
  std::set<const void*> listed;
  for (Dwarf_Die& die : all) {
    const void* from = original(die).addr;
    listed.insert(from);
    for (size_t i = 0; i < here.size(); ++i)
      if (origins[i] == from) {
        die = here[i];
        break;
      }
  }
  for (size_t i = 0; i < here.size(); ++i)
    if (!listed.count(origins[i])) all.push_back(here[i]);
  return all;
}

}  // namespace blip::dwarf
