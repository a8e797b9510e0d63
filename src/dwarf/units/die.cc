// SPDX-License-Identifier: MIT
#include "dwarf/units/die.h"

namespace blip::dwarf {

namespace {

Dwarf_Die* open(const Dwarf_Die& die) { return const_cast<Dwarf_Die*>(&die); }  // libdw changes nothing of it

}  // namespace

std::optional<Dwarf_Attribute> own_attribute(const Dwarf_Die& die, unsigned name) {
  Dwarf_Attribute attribute;
  if (!::dwarf_attr(open(die), name, &attribute)) return std::nullopt;
  return attribute;
}

std::optional<Dwarf_Attribute> attribute(const Dwarf_Die& die, unsigned name) {
  constexpr int kMostSteps = 8;
  Dwarf_Die at = die;
  for (int i = 0; i < kMostSteps; ++i) {
    if (auto found = own_attribute(at, name)) return found;
    auto next = own_attribute(at, DW_AT_abstract_origin);
    if (!next) next = own_attribute(at, DW_AT_specification);
    Dwarf_Die to;
    if (!next || !::dwarf_formref_die(&*next, &to)) return std::nullopt;
    at = to;
  }
  return std::nullopt;
}

std::optional<uint64_t> number(const Dwarf_Die& die, unsigned name) {
  auto found = attribute(die, name);
  Dwarf_Word value = 0;
  if (!found || ::dwarf_formudata(&*found, &value) != 0) return std::nullopt;
  return value;
}

bool flag(const Dwarf_Die& die, unsigned name) {
  auto found = own_attribute(die, name);
  bool value = false;
  return found && ::dwarf_formflag(&*found, &value) == 0 && value;
}

bool has(const Dwarf_Die& die, unsigned name) { return ::dwarf_hasattr(open(die), name); }

std::string_view name_of(const Dwarf_Die& die) {
  auto found = attribute(die, DW_AT_name);
  const char* name = found ? ::dwarf_formstring(&*found) : nullptr;
  return name ? name : "";
}

std::optional<Dwarf_Die> referred(const Dwarf_Die& die, unsigned name) {
  auto found = attribute(die, name);
  Dwarf_Die to;
  if (!found || !::dwarf_formref_die(&*found, &to)) return std::nullopt;
  return to;
}

int tag_of(const Dwarf_Die& die) { return ::dwarf_tag(open(die)); }

std::optional<uint64_t> entry_of(const Dwarf_Die& function) {
  Dwarf_Addr base = 0, begin = 0, end = 0, entry = 0;
  if (::dwarf_entrypc(open(function), &entry) == 0 && contains(function, entry)) return entry;
  if (::dwarf_ranges(open(function), 0, &base, &begin, &end) <= 0) return std::nullopt;
  return begin;  // what is split off comes behind
}

bool contains(const Dwarf_Die& die, uint64_t pc) { return ::dwarf_haspc(open(die), pc) > 0; }

// Compilers write negative numbers as sdata; what has a fixed size is meant as bits.
std::optional<uint64_t> constant_bits(Dwarf_Attribute attribute) {
  const unsigned form = ::dwarf_whatform(&attribute);
  if (form == DW_FORM_sdata || form == DW_FORM_implicit_const) {
    Dwarf_Sword value = 0;
    if (::dwarf_formsdata(&attribute, &value) != 0) return std::nullopt;
    return static_cast<uint64_t>(value);
  }
  Dwarf_Word value = 0;
  if (::dwarf_formudata(&attribute, &value) != 0) return std::nullopt;
  return value;
}

Dwarf_Die original(const Dwarf_Die& die) {
  constexpr int kMostSteps = 8;
  Dwarf_Die at = die;
  for (int i = 0; i < kMostSteps; ++i) {
    auto next = own_attribute(at, DW_AT_abstract_origin);
    if (!next) next = own_attribute(at, DW_AT_specification);
    Dwarf_Die to;
    if (!next || !::dwarf_formref_die(&*next, &to)) return at;
    at = to;
  }
  return at;
}

}  // namespace blip::dwarf
