// SPDX-License-Identifier: MIT
// Members of structures, classes and unions, and those of Rust's enums.
#include <algorithm>

#include "dwarf/units/types.h"

namespace blip::dwarf {

using script::Member;
using script::Type;

namespace {

// Bytes from the start; a virtual base class is wherever the object says.
std::optional<uint64_t> offset_of(const Dwarf_Die& member) {
  auto location = own_attribute(member, DW_AT_data_member_location);
  if (!location) return 0;  // of unions
  Dwarf_Word offset = 0;
  if (::dwarf_formudata(&*location, &offset) == 0) return offset;
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  if (::dwarf_getlocation(&*location, &ops, &count) != 0 || count != 1) return std::nullopt;
  if (ops[0].atom != DW_OP_plus_uconst && ops[0].atom != DW_OP_constu) return std::nullopt;
  return ops[0].number;
}

// The first bit of a bit-field, counted from the lowest bit of the structure. The old attribute counts from
// the highest bit of the storage, as big-endian machines do.
std::optional<uint64_t> first_bit(const Dwarf_Die& member, uint64_t bits, uint64_t type_size) {
  if (auto direct = number(member, DW_AT_data_bit_offset)) return direct;
  const auto offset = offset_of(member);
  if (!offset) return std::nullopt;
  const auto from_top = number(member, DW_AT_bit_offset);
  if (!from_top) return *offset * 8;
  const uint64_t storage = number(member, DW_AT_byte_size).value_or(type_size);
  return *offset * 8 + storage * 8 - *from_top - bits;
}

// In the unit of storage of its type, which the structure holds as a whole; packed ones may lie across two,
// and across nine bytes.
bool place_bits(Member& member, uint64_t first, uint64_t bits, uint64_t type_size) {
  if (bits == 0 || bits > 64 || type_size == 0 || type_size > 8) return false;
  const uint64_t unit = type_size * 8;
  member.offset = first / unit * type_size;
  if (first % unit + bits > unit) member.offset = first / 8;
  member.bit_offset = static_cast<uint8_t>(first - member.offset * 8);
  member.bit_size = static_cast<uint8_t>(bits);
  return true;
}

constexpr int kDeepestVariant = 4;

}  // namespace

void Types::complete_record(Type& type, Dwarf_Die die) {
  if (flag(die, DW_AT_declaration)) {
    if (auto unit = referred(die, DW_AT_signature))
      die = *unit;
    else if (auto found = surroundings_.definition(die))
      die = *found;
  } else if (auto unit = referred(die, DW_AT_signature)) {
    die = *unit;
  }
  type.size = number(die, DW_AT_byte_size).value_or(0);
  type.alignment = number(die, DW_AT_alignment).value_or(0);
  add_members(type, die, 0);
  add_arguments(type, die);
}

void Types::add_arguments(Type& type, const Dwarf_Die& die) {
  for_each_child(die, [&](const Dwarf_Die& child) {
    if (tag_of(child) == DW_TAG_template_type_parameter) type.arguments.push_back(&of_holder(child));
    if (tag_of(child) == DW_TAG_GNU_template_parameter_pack) add_arguments(type, child);
    return true;
  });
}

void Types::add_members(Type& type, const Dwarf_Die& die, int depth) {
  for_each_child(die, [&](const Dwarf_Die& child) {
    const int tag = tag_of(child);
    const size_t before = type.members.size();
    if (tag == DW_TAG_member || tag == DW_TAG_inheritance)
      add_member(type, child);
    else if ((tag == DW_TAG_variant_part || tag == DW_TAG_variant) && depth < kDeepestVariant)
      add_members(type, child, depth + 1);
    if (tag == DW_TAG_variant && type.members.size() == before + 1) add_variant(type, child);
    return true;
  });
}

// By which value of the tag its member is there; none: by all that others do not have.
void Types::add_variant(Type& type, const Dwarf_Die& die) {
  const auto value = own_attribute(die, DW_AT_discr_value);
  const auto bits = value ? constant_bits(*value) : std::nullopt;
  if (bits) type.enumerators.push_back({type.members.back().name, static_cast<int64_t>(*bits)});
}

void Types::add_member(Type& type, const Dwarf_Die& die) {
  if (flag(die, DW_AT_declaration) || flag(die, DW_AT_external)) return;  // static
  Member member{.name = std::string(name_of(die)), .type = &of_holder(die)};
  if (tag_of(die) == DW_TAG_inheritance) {
    member.name.clear();
    member.is_base = true;
  }
  if (const auto bits = number(die, DW_AT_bit_size)) {
    const uint64_t size = script::resolve(*member.type).size;
    const auto first = first_bit(die, *bits, size);
    if (!first || !place_bits(member, *first, *bits, size)) return;
  } else {
    const auto offset = offset_of(die);
    if (!offset) return;
    member.offset = *offset;
  }
  type.alignment = std::max(type.alignment, number(die, DW_AT_alignment).value_or(0));
  type.members.push_back(std::move(member));
}

}  // namespace blip::dwarf
