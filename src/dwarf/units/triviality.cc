// SPDX-License-Identifier: MIT
#include "dwarf/units/triviality.h"

#include "dwarf/units/types.h"

namespace blip::dwarf {

using Passing = script::AbiValue::Passing;

namespace {

constexpr int kDeepest = 16;  // of members in members

Passing passing(const Dwarf_Die& type, int depth);

// Constructors of a template have its name without the arguments.
std::string_view constructor_name(const Dwarf_Die& type) {
  const std::string_view name = name_of(type);
  return name.substr(0, name.find('<'));
}

// X(const X&) and X(X&&).
bool is_copy(const Dwarf_Die& function, const Dwarf_Die& type) {
  int count = 0;
  bool is_own = false;
  for_each_child(function, [&](const Dwarf_Die& parameter) {
    if (tag_of(parameter) != DW_TAG_formal_parameter || flag(parameter, DW_AT_artificial)) return true;
    ++count;
    const auto reference = referred(parameter, DW_AT_type);
    const auto target = reference ? referred(*reference, DW_AT_type) : std::nullopt;
    const auto plain = target ? without_names(*target) : std::nullopt;
    is_own = plain && plain->addr == type.addr;
    return true;
  });
  return count == 1 && is_own;
}

Passing by_function(const Dwarf_Die& function, const Dwarf_Die& type) {
  if (number(function, DW_AT_virtuality).value_or(0) != 0) return Passing::kByReference;
  const std::string_view name = name_of(function);
  const bool matters = name.starts_with('~') || (name == constructor_name(type) && is_copy(function, type));
  if (!matters || flag(function, DW_AT_artificial)) return Passing::kByValue;  // implicit: as the members are
  if (flag(function, DW_AT_deleted)) return Passing::kNotKnown;
  const uint64_t defaulted = number(function, DW_AT_defaulted).value_or(0);
  if (defaulted == DW_DEFAULTED_in_class) return Passing::kByValue;
  Dwarf_Half version = 0;
  const bool would_say =
      ::dwarf_cu_info(type.cu, &version, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr) == 0 &&
      version >= 5;
  return would_say ? Passing::kByReference : Passing::kNotKnown;
}

Passing by_member(const Dwarf_Die& member, int depth) {
  if (flag(member, DW_AT_declaration) || flag(member, DW_AT_external)) return Passing::kByValue;  // static
  if (number(member, DW_AT_virtuality).value_or(0) != 0) return Passing::kByReference;
  const auto type = referred(member, DW_AT_type);
  return type ? passing(*type, depth + 1) : Passing::kNotKnown;
}

Passing by_children(const Dwarf_Die& type, int depth) {
  Passing result = Passing::kByValue;
  for_each_child(type, [&](const Dwarf_Die& child) {
    const int tag = tag_of(child);
    Passing one = Passing::kByValue;
    if (tag == DW_TAG_subprogram) one = by_function(child, type);
    if (tag == DW_TAG_member || tag == DW_TAG_inheritance) one = by_member(child, depth);
    if (one != Passing::kByValue) result = one;
    return result != Passing::kByReference;
  });
  return result;
}

Passing passing(const Dwarf_Die& type, int depth) {
  auto plain = without_names(type);
  // An array is passed as its elements are.
  for (int i = 0; i < kDeepest && plain && tag_of(*plain) == DW_TAG_array_type; ++i) {
    const auto element = referred(*plain, DW_AT_type);
    plain = element ? without_names(*element) : std::nullopt;
  }
  if (!plain || depth > kDeepest) return Passing::kNotKnown;
  const int tag = tag_of(*plain);
  if (tag != DW_TAG_structure_type && tag != DW_TAG_class_type && tag != DW_TAG_union_type)
    return Passing::kByValue;
  if (auto unit = referred(*plain, DW_AT_signature)) plain = unit;
  const uint64_t told = number(*plain, DW_AT_calling_convention).value_or(0);
  if (told == DW_CC_pass_by_value) return Passing::kByValue;
  if (told == DW_CC_pass_by_reference) return Passing::kByReference;
  if (flag(*plain, DW_AT_declaration)) return Passing::kNotKnown;
  return by_children(*plain, depth);
}

}  // namespace

Passing passing_of(const Dwarf_Die& type) { return passing(type, 0); }

}  // namespace blip::dwarf
