// SPDX-License-Identifier: MIT
#include "dwarf/units/types.h"

#include <limits>

namespace blip::dwarf {

using script::Type;
using script::TypeKind;

namespace {

constexpr int kMostQualifiers = 100;  // they may refer to each other
constexpr uint64_t kPointerSize = 8;

bool is_qualifier(int tag) {
  switch (tag) {
    case DW_TAG_const_type:
    case DW_TAG_volatile_type:
    case DW_TAG_restrict_type:
    case DW_TAG_atomic_type:
    case DW_TAG_immutable_type:
    case DW_TAG_packed_type:
    case DW_TAG_shared_type:
      return true;
    default:
      return false;
  }
}

template <typename Skip>
std::optional<Dwarf_Die> skip_while(Dwarf_Die type, Skip skip) {
  for (int i = 0; i < kMostQualifiers; ++i) {
    if (!skip(tag_of(type))) return type;
    const auto next = referred(type, DW_AT_type);
    if (!next) return std::nullopt;  // const void
    type = *next;
  }
  return std::nullopt;
}

TypeKind kind_of(int tag) {
  switch (tag) {
    case DW_TAG_pointer_type:
    case DW_TAG_unspecified_type:  // of nullptr
      return TypeKind::kPointer;
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
      return TypeKind::kReference;
    case DW_TAG_array_type:
      return TypeKind::kArray;
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_interface_type:
      return TypeKind::kStruct;
    case DW_TAG_union_type:
      return TypeKind::kUnion;
    case DW_TAG_enumeration_type:
      return TypeKind::kEnum;
    case DW_TAG_typedef:
      return TypeKind::kTypedef;
    case DW_TAG_subroutine_type:
    case DW_TAG_subprogram:
      return TypeKind::kFunction;
    default:
      return TypeKind::kUnknown;
  }
}

// x87's takes 16 bytes; other floats of that size, and halves, are not understood.
bool is_known_float(const Type& type) {
  return type.size == 4 || type.size == 8 || (type.size == 16 && type.name.find("128") == std::string::npos);
}

void set_base_kind(Type& type, uint64_t encoding) {
  switch (encoding) {
    case DW_ATE_boolean:
      type.kind = TypeKind::kBool;
      break;
    case DW_ATE_signed_char:
    case DW_ATE_unsigned_char:
    case DW_ATE_UTF:
      type.kind = TypeKind::kChar;
      break;
    case DW_ATE_signed:
    case DW_ATE_unsigned:
    case DW_ATE_address:
      type.kind = TypeKind::kInt;
      break;
    case DW_ATE_float:
      type.kind = is_known_float(type) ? TypeKind::kFloat : TypeKind::kUnknown;
      break;
    default:
      type.kind = TypeKind::kUnknown;
  }
  type.is_signed = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
}

uint64_t size_of(const Dwarf_Die& die) {
  if (auto bytes = number(die, DW_AT_byte_size)) return *bytes;
  if (auto bits = number(die, DW_AT_bit_size)) return *bits / 8;
  return 0;
}

// Elements in one dimension.
std::optional<uint64_t> count_of(const Dwarf_Die& subrange, uint64_t lowest_index) {
  if (auto count = number(subrange, DW_AT_count)) return count;
  auto last = attribute(subrange, DW_AT_upper_bound);
  if (!last) return std::nullopt;
  const auto upper = constant_bits(*last);
  if (!upper) return std::nullopt;  // known at run time only
  const uint64_t lower = number(subrange, DW_AT_lower_bound).value_or(lowest_index);
  const uint64_t count = *upper - lower + 1;
  if (*upper == std::numeric_limits<uint32_t>::max()) return 0;  // -1 in the bits of an int
  return count;
}

uint64_t product(uint64_t a, uint64_t b) {
  uint64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? 0 : result;
}

}  // namespace

std::optional<Dwarf_Die> without_qualifiers(Dwarf_Die type) { return skip_while(type, is_qualifier); }

std::optional<Dwarf_Die> without_names(Dwarf_Die type) {
  return skip_while(type, [](int tag) { return is_qualifier(tag) || tag == DW_TAG_typedef; });
}

Type& Types::add(Type type) { return types_.emplace_back(std::move(type)); }

const Type& Types::of_holder(const Dwarf_Die& holder) {
  const auto die = referred(holder, DW_AT_type);
  return die ? of(*die) : void_;
}

const Type& Types::of(const Dwarf_Die& qualified) {
  const auto die = without_qualifiers(qualified);
  if (!die) return void_;
  auto [known, is_new] = by_entry_.try_emplace(die->addr, nullptr);
  if (!is_new) return *known->second;
  Type& type = add({});
  known->second = &type;
  begin(type, *die);
  return type;
}

void Types::begin(Type& type, const Dwarf_Die& die) {
  const int tag = tag_of(die);
  type.kind = kind_of(tag);
  type.name = surroundings_.whole_name(die);
  type.size = size_of(die);
  if (tag == DW_TAG_base_type) {
    const uint64_t encoding = number(die, DW_AT_encoding).value_or(0);
    set_base_kind(type, encoding);
    if (encoding == DW_ATE_complex_float) make_complex(type);
    return;
  }
  if (type.kind == TypeKind::kPointer || type.kind == TypeKind::kReference) {
    type.size = kPointerSize;
    if (!type.name.starts_with('&')) type.name.clear();  // Rust's references are shown as what they refer to
  }
  if (type.kind == TypeKind::kArray) type.name.clear();  // see complete_array
  type.source = this;
  type.key = entries_.size();
  entries_.push_back(die);
}

void Types::make_complex(Type& type) {
  Type part{.kind = TypeKind::kFloat, .name = "", .size = type.size / 2};
  part.name = part.size == 4 ? "float" : part.size == 8 ? "double" : "long double";
  if (!is_known_float(part)) return;
  const Type& known = add(std::move(part));
  type.kind = TypeKind::kStruct;
  type.members = {{.name = "real", .type = &known}, {.name = "imag", .type = &known, .offset = known.size}};
}

// Arrays need the size of their elements, which may be arrays.
void Types::complete(Type& type) {
  constexpr int kDeepest = 64;
  if (nesting_ >= kDeepest) return;
  ++nesting_;
  read_rest(type, entries_[type.key]);
  --nesting_;
}

void Types::read_rest(Type& type, const Dwarf_Die& die) {
  switch (type.kind) {
    case TypeKind::kPointer:
    case TypeKind::kReference:
    case TypeKind::kFunction:
      type.target = &of_holder(die);
      break;
    case TypeKind::kTypedef:
      return complete_typedef(type, die);
    case TypeKind::kArray:
      return complete_array(type, die);
    case TypeKind::kStruct:
    case TypeKind::kUnion:
      return complete_record(type, die);
    case TypeKind::kEnum:
      return complete_enum(type, die);
    default:
      break;
  }
}

// The size of a name is that of what it names; names may go round in a ring.
void Types::complete_typedef(Type& type, const Dwarf_Die& die) {
  type.target = &of_holder(die);
  const Type* named = type.target;
  for (int i = 0; i < kMostQualifiers && named->kind == TypeKind::kTypedef; ++i) {
    if (!named->is_complete() && named->source == this)
      named = &of_holder(entries_[named->key]);
    else if (named->target)
      named = named->target;
  }
  if (named->kind != TypeKind::kTypedef) type.size = script::complete(*named).size;
}

// int a[2][3]: an array of 2 arrays of 3; one entry with two children.
void Types::complete_array(Type& type, const Dwarf_Die& die) {
  std::vector<std::optional<uint64_t>> dimensions;
  for_each_child(die, [&](const Dwarf_Die& child) {
    const int tag = tag_of(child);
    if (tag != DW_TAG_subrange_type && tag != DW_TAG_enumeration_type) return true;
    const auto count = count_of(child, surroundings_.lowest_index(child));
    if (dimensions.empty() && !count) ranges_.emplace(&type, child);
    dimensions.push_back(count);
    return dimensions.size() < 16;
  });
  if (dimensions.empty()) dimensions.emplace_back();
  if (flag(die, DW_AT_GNU_vector)) type.name = "vector";  // script::classify asks
  const Type* element = &of_holder(die);
  uint64_t size = script::resolve(*element).size;
  for (size_t i = dimensions.size(); i-- > 1;) {
    size = product(size, dimensions[i].value_or(0));
    element = &add({.kind = TypeKind::kArray, .size = size, .target = element, .count = dimensions[i]});
  }
  type.target = element;
  type.count = dimensions[0];
  const uint64_t whole = product(size, dimensions[0].value_or(0));
  if (whole) type.size = whole;
}

std::optional<Dwarf_Die> Types::range_of(const Type& array) const {
  const auto found = ranges_.find(&array);
  return found == ranges_.end() ? std::nullopt : std::optional(found->second);
}

void Types::complete_enum(Type& type, const Dwarf_Die& given) {
  Dwarf_Die die = given;
  if (flag(die, DW_AT_declaration))
    if (auto found = surroundings_.definition(die)) die = *found;
  type.size = size_of(die);
  for_each_child(die, [&](const Dwarf_Die& child) {
    if (tag_of(child) != DW_TAG_enumerator) return true;
    const auto value = own_attribute(child, DW_AT_const_value);
    const auto bits = value ? constant_bits(*value) : std::nullopt;
    if (bits) type.enumerators.push_back({std::string(name_of(child)), static_cast<int64_t>(*bits)});
    return true;
  });
  if (const auto base = referred(die, DW_AT_type)) {
    const Type& underlying = script::resolve(of(*base));
    type.is_signed = underlying.is_signed;
    if (type.size == 0) type.size = underlying.size;
  } else {
    for (const script::Enumerator& e : type.enumerators) type.is_signed |= e.value < 0;
  }
}

}  // namespace blip::dwarf
