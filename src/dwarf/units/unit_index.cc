// SPDX-License-Identifier: MIT
// Children lie behind their parent and before its next sibling, so the bytes of an entry say which namespaces
// and classes it is in: libdw has no way to the parent.
#include "dwarf/units/unit_index.h"

#include <algorithm>

namespace blip::dwarf {

namespace {

// Given out after DWARF 5.
constexpr uint64_t kCPlusPlus17 = 0x2a, kCPlusPlus20 = 0x2b, kC17 = 0x2c;

constexpr const char* kNameless = "(anonymous namespace)";

bool is_tagged(int tag) {
  return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type ||
         tag == DW_TAG_enumeration_type;
}

bool is_record(int tag) { return is_tagged(tag) && tag != DW_TAG_enumeration_type; }

// The last one of its parent ends with it.
const void* end_of(const Dwarf_Die& die, const void* end_of_parent) {
  Dwarf_Die next;
  if (::dwarf_siblingof(const_cast<Dwarf_Die*>(&die), &next) != 0 || next.addr <= die.addr)
    return end_of_parent;
  return next.addr;
}

}  // namespace

bool is_c_plus_plus(uint64_t language) {
  switch (language) {
    case DW_LANG_C_plus_plus:
    case DW_LANG_C_plus_plus_03:
    case DW_LANG_C_plus_plus_11:
    case DW_LANG_C_plus_plus_14:
    case kCPlusPlus17:
    case kCPlusPlus20:
    case DW_LANG_ObjC_plus_plus:
      return true;
    default:
      return false;
  }
}

bool is_c(uint64_t language) {
  return language == DW_LANG_C || language == DW_LANG_C89 || language == DW_LANG_C99 ||
         language == DW_LANG_C11 || language == kC17 || language == DW_LANG_ObjC;
}

UnitIndex::UnitIndex(const Dwarf_Die& unit) : unit_(unit) {
  if (auto language = own_attribute(unit, DW_AT_language)) {
    Dwarf_Word value = 0;
    if (::dwarf_formudata(&*language, &value) == 0) language_ = value;
  }
  walk(unit_, "", 0);
  std::stable_sort(code_.begin(), code_.end(),
                   [](const Code& a, const Code& b) { return a.range.begin < b.range.begin; });
  name_declared();
  name_variables();
}

void UnitIndex::name_declared() {
  for (const Dwarf_Die& die : variables_)
    if (flag(die, DW_AT_declaration) && flag(die, DW_AT_external))
      if (std::string name = whole_name(die); !name.empty())
        names_.declared.try_emplace(std::move(name), die);
}

bool UnitIndex::has_scopes() const { return !is_c(language_); }

void UnitIndex::walk(const Dwarf_Die& parent, const std::string& prefix, int depth) {
  if (depth > kDeepestEntry) return;
  for_each_child(parent, budget_, [&](const Dwarf_Die& die) { return visit(die, prefix, depth); });
}

bool UnitIndex::visit(const Dwarf_Die& die, const std::string& prefix, int depth) {
  const int tag = tag_of(die);
  if (tag == DW_TAG_subprogram) {
    add_function(die, prefix, depth);
  } else if (tag == DW_TAG_variable) {
    variables_.push_back(die);
  } else if (tag == DW_TAG_namespace || tag == DW_TAG_module) {
    add_container(die, prefix, depth);
  } else if (is_tagged(tag) || tag == DW_TAG_typedef || tag == DW_TAG_base_type) {
    add_type(die, prefix, depth);
  }
  return true;
}

void UnitIndex::add_container(const Dwarf_Die& die, const std::string& prefix, int depth) {
  const std::string_view name = name_of(die);
  std::string inner = prefix;
  inner.append(name.empty() ? kNameless : name).append("::");
  const void* const last = reinterpret_cast<const void*>(UINTPTR_MAX);
  const size_t outer = container_;
  containers_.push_back(
      {die.addr, end_of(die, outer == kNone ? last : containers_[outer].end), inner, outer});
  container_ = containers_.size() - 1;
  walk(die, inner, depth + 1);
  container_ = outer;
}

void UnitIndex::add_function(const Dwarf_Die& die, const std::string& prefix, int depth) {
  if (flag(die, DW_AT_declaration)) return;
  Dwarf_Addr base = 0, begin = 0, end = 0;
  bool has_code = false;
  if (has(die, DW_AT_low_pc) || has(die, DW_AT_ranges))
    for (ptrdiff_t i = 0; (i = ::dwarf_ranges(const_cast<Dwarf_Die*>(&die), i, &base, &begin, &end)) > 0;) {
      if (begin == 0 || begin >= end || !budget_.spend()) continue;  // 0: the linker dropped it
      code_.push_back({{FileAddr(begin), FileAddr(end)}, functions_.size()});
      has_code = true;
    }
  if (has_code) functions_.push_back(die);
  if (has_code || has_scopes()) walk_body(die, prefix, depth + 1);
}

// Functions in functions: GNU C, Ada, closures. The code of a lambda or of a local class is an entry in that
// class, which may lie in a block.
void UnitIndex::walk_body(const Dwarf_Die& die, const std::string& prefix, int depth) {
  if (depth > kDeepestEntry) return;
  for_each_child(die, budget_, [&](const Dwarf_Die& child) {
    const int tag = tag_of(child);
    if (tag == DW_TAG_subprogram)
      add_function(child, prefix, depth);
    else if (has_scopes() && (tag == DW_TAG_lexical_block || is_record(tag)))
      walk_body(child, prefix, depth + 1);
    return true;
  });
}

void UnitIndex::add_type(const Dwarf_Die& die, const std::string& prefix, int depth) {
  const int tag = tag_of(die);
  const std::string_view name = name_of(die);
  if (!name.empty() && !flag(die, DW_AT_declaration))
    (is_tagged(tag) ? names_.tags : names_.aliases).try_emplace(prefix + std::string(name), die);
  if (is_record(tag) && has_scopes() && !name.empty()) add_container(die, prefix, depth);
}

// A variable without a place hides those of other files with its name, but not an entry of its own that has a
// place.
void UnitIndex::name_variables() {
  for (const bool has_place : {true, false})
    for (const Dwarf_Die& die : variables_) {
      if (flag(die, DW_AT_declaration)) continue;
      if ((has(die, DW_AT_location) || has(die, DW_AT_const_value)) != has_place) continue;
      if (std::string name = whole_name(die); !name.empty())
        names_.variables.try_emplace(std::move(name), die);
    }
  variables_ = {};
}

std::optional<Dwarf_Die> UnitIndex::function_at(FileAddr address) const {
  auto at = std::upper_bound(code_.begin(), code_.end(), address,
                             [](FileAddr a, const Code& code) { return a < code.range.begin; });
  // The nearest begin before it is that of the innermost, unless a function in a function has ended.
  constexpr int kMostNested = 64;
  for (int i = 0; i < kMostNested && at != code_.begin(); ++i)
    if ((--at)->range.contains(address)) return functions_[at->function];
  return std::nullopt;
}

std::string UnitIndex::prefix_of(const Dwarf_Die& die) const {
  const Dwarf_Die first = original(die);
  auto at = std::upper_bound(containers_.begin(), containers_.end(), first.addr,
                             [](const void* addr, const Container& c) { return addr <= c.begin; });
  if (at == containers_.begin()) return "";
  // The last one that begins before it, or what that one is in.
  for (auto i = static_cast<size_t>(at - containers_.begin()) - 1; i != kNone; i = containers_[i].outer)
    if (first.addr < containers_[i].end) return containers_[i].prefix;
  return "";
}

std::string UnitIndex::whole_name(const Dwarf_Die& die) const {
  const std::string_view name = name_of(die);
  return name.empty() ? std::string() : prefix_of(die) + std::string(name);
}

}  // namespace blip::dwarf
