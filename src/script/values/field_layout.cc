// SPDX-License-Identifier: MIT
#include "script/values/field_layout.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "script/types/builtin_types.h"
#include "script/values/variants.h"

namespace blip::script {

namespace {

constexpr uint64_t kWord = 8, kTwoWords = 16;

bool is_word_part(uint64_t size) { return size == 1 || size == 2 || size == 4 || size == 8; }

uint64_t size_of(const Type& type) {
  return type.kind == TypeKind::kPointer || type.kind == TypeKind::kReference ? kWord : type.size;
}

// Shown in base 16.
bool is_address(const Type& type) {
  return type.kind == TypeKind::kPointer || type.kind == TypeKind::kReference ||
         type.kind == TypeKind::kFunction;
}

// Numbers of 16 bytes: the low half and the high one.
Field halves(std::string name, const Extent& extent) {
  Field field{.name = std::move(name), .type = FieldType::kArray, .output = extent.output};
  field.begin = static_cast<uint32_t>(extent.offset);
  field.size = kWord;
  field.count = 2;
  field.members.push_back({.type = FieldType::kInt, .output = extent.output, .size = kWord});
  return field;
}

Field array_field(std::string name, const Type& array, const Extent& extent, uint32_t depth,
                  FieldBudget& budget) {
  const uint64_t stride = array.target ? size_of(resolve(*array.target)) : 0;
  const uint64_t count = array.count.value_or(0);
  if (stride == 0 || count == 0) return note(std::move(name), "<no length>");
  const bool is_text = is_character(*array.target);
  const uint64_t room = (extent.end - std::min(extent.end, extent.offset)) / stride;
  const uint64_t shown =
      std::min<uint64_t>({count, room, is_text ? budget.limits.string_max : budget.limits.elements});
  if (shown == 0) return note(std::move(name), "...");
  Field field{.name = std::move(name),
              .type = is_text ? FieldType::kText : FieldType::kArray,
              .output = extent.output,
              .begin = static_cast<uint32_t>(extent.offset),
              .size = static_cast<uint32_t>(is_text ? shown * stride : stride),
              .count = static_cast<uint32_t>(shown)};
  if (is_text) return field;
  field.members.push_back(
      layout_field("", *array.target, {.output = extent.output, .end = stride}, depth, budget));
  if (shown < count) field.note = fmt::format("{} more", count - shown);
  return field;
}

// libstdc++'s std::tuple calls all elements the same, and has the last one first.
void name_elements(Field& tuple) {
  auto& members = tuple.members;
  const auto is_element = [](const Field& member) { return member.name == "_M_head_impl"; };
  if (members.size() < 2 || !std::all_of(members.begin(), members.end(), is_element)) return;
  std::reverse(members.begin(), members.end());
  for (size_t i = 0; i < members.size(); ++i) members[i].name = fmt::format("[{}]", i);
}

// Rust's enums: which one it is, then the data of all of them, of which readers show that one.
Field variant_field(std::string name, const Type& type, const Member& tag, const Extent& extent,
                    uint32_t depth, FieldBudget& budget) {
  Field which = scalar_field("variant", *tag.type, extent.output, extent.offset + tag.offset);
  which.type = FieldType::kEnum;
  which.is_signed = false;
  which.labels = labels_of(type.enumerators);
  Field field{.name = std::move(name),
              .type = FieldType::kStruct,
              .output = extent.output,
              .begin = static_cast<uint32_t>(extent.offset),
              .size = static_cast<uint32_t>(type.size)};
  field.members.push_back(std::move(which));
  for (const Member& variant : type.members) {
    uint64_t offset = 0;
    const Member* data = variant.name.empty() ? nullptr : data_of(variant, offset);
    if (!data || !budget.take()) continue;
    Extent at = extent;
    at.offset += offset;
    if (at.offset + size_of(resolve(*data->type)) <= extent.end)
      field.members.push_back(layout_field(variant.name, *data->type, at, depth + 1, budget));
  }
  return field;
}

Field struct_field(std::string name, const Type& type, const Extent& extent, uint32_t depth,
                   FieldBudget& budget) {
  if (depth >= budget.limits.depth) return note(std::move(name), "{...}");
  const Member* tag = tag_of(type);
  if (tag && extent.offset + tag->offset + resolve(*tag->type).size <= extent.end)
    return variant_field(std::move(name), type, *tag, extent, depth, budget);
  Field field{.name = std::move(name),
              .type = FieldType::kStruct,
              .output = extent.output,
              .begin = static_cast<uint32_t>(extent.offset),
              .size = static_cast<uint32_t>(type.size)};
  for (const FoundMember& m : members_of(type)) {
    if (!budget.take()) {
      field.members.push_back(note("...", "more members"));
      break;
    }
    const uint64_t at = extent.offset + m.offset;
    if (at + size_of(resolve(*m.member->type)) > extent.end && m.member->bit_size == 0) {
      field.members.push_back(note("...", "cut"));
      break;
    }
    field.members.push_back(member_field(m, extent, depth + 1, budget));
  }
  name_elements(field);
  return field;
}

}  // namespace

Field note(std::string name, std::string text) {
  return {.name = std::move(name), .type = FieldType::kNote, .note = std::move(text)};
}

FieldType scalar_kind(const Type& type) {
  const Type& t = resolve(type);
  switch (t.kind) {
    case TypeKind::kInt:
      return is_word_part(t.size) ? FieldType::kInt : FieldType::kNote;
    case TypeKind::kBool:
      return FieldType::kBool;
    case TypeKind::kChar:
      return t.size == 1 && is_character(type) ? FieldType::kChar : FieldType::kInt;
    case TypeKind::kFloat:
      return t.size == 4 || t.size == 8 || t.size == 16 ? FieldType::kFloat : FieldType::kNote;
    case TypeKind::kEnum:
      return is_word_part(t.size) ? FieldType::kEnum : FieldType::kNote;
    default:
      return is_address(t) ? FieldType::kInt : FieldType::kNote;
  }
}

std::vector<ctf::Label> labels_of(const std::vector<Enumerator>& enumerators) {
  std::vector<ctf::Label> labels;
  for (const Enumerator& e : enumerators) labels.push_back({e.value, e.name});
  return labels;
}

Field scalar_field(std::string name, const Type& type, uint32_t output, uint64_t offset) {
  const Type& t = resolve(type);
  Field field{.name = std::move(name), .type = scalar_kind(type), .output = output};
  field.begin = static_cast<uint32_t>(offset);
  field.is_hex = is_address(t);
  field.size = static_cast<uint32_t>(field.is_hex ? kWord : t.size);
  field.is_signed = t.is_signed;
  if (field.type == FieldType::kEnum) field.labels = labels_of(t.enumerators);
  return field;
}

Field layout_field(std::string name, const Type& type, const Extent& extent, uint32_t depth,
                   FieldBudget& budget) {
  const Type& t = resolve(type);
  if (scalar_kind(type) != FieldType::kNote)
    return scalar_field(std::move(name), type, extent.output, extent.offset);
  if (t.kind == TypeKind::kInt && t.size == kTwoWords) return halves(std::move(name), extent);
  if (t.kind == TypeKind::kArray) return array_field(std::move(name), t, extent, depth, budget);
  if (is_aggregate(t)) return struct_field(std::move(name), t, extent, depth, budget);
  return note(std::move(name), "<unknown type>");
}

Field member_field(const FoundMember& found, const Extent& extent, uint32_t depth, FieldBudget& budget) {
  const Member& m = *found.member;
  const Type& type = resolve(*m.type);
  Extent at = extent;
  at.offset += found.offset;
  if (m.bit_size == 0) return layout_field(m.name, *m.type, at, depth, budget);
  // The smallest number of whole bytes that has the field; of packed ones that need nine there is none.
  const uint64_t first = at.offset + m.bit_offset / 8, bits = m.bit_offset % 8 + m.bit_size;
  uint64_t size = std::bit_ceil((bits + 7) / 8);
  const uint64_t moved = first + size > extent.end && extent.end >= size ? first - (extent.end - size) : 0;
  if (size > kWord || moved * 8 + bits > size * 8 || first + (bits + 7) / 8 > extent.end)
    return note(m.name, "<bit-field>");
  Field field = scalar_field(m.name, *m.type, extent.output, first - moved);
  if (field.type == FieldType::kNote) return note(m.name, "<bit-field>");
  field.size = static_cast<uint32_t>(size);
  if (field.type == FieldType::kChar && size > 1) field.type = FieldType::kInt;  // across two bytes: packed
  field.is_signed = type.is_signed;
  field.bit_offset = static_cast<uint8_t>(m.bit_offset % 8 + moved * 8);
  field.bit_size = m.bit_size;
  return field;
}

}  // namespace blip::script
