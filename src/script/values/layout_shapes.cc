// SPDX-License-Identifier: MIT
#include "script/values/layout_shapes.h"

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

// Numbers of 16 bytes: the low half and the high one.
Shape halves(std::string name, const Extent& extent) {
  Shape shape{.kind = Shape::Kind::kArray, .name = std::move(name), .output = extent.output};
  shape.offset = static_cast<uint32_t>(extent.offset);
  shape.size = kTwoWords;
  shape.count = 2;
  shape.members.push_back({.kind = Shape::Kind::kInt, .output = extent.output, .size = kWord});
  return shape;
}

Shape array_shape(std::string name, const Type& array, const Extent& extent, uint32_t depth,
                  ShapeBudget& budget) {
  const uint64_t stride = array.target ? size_of(resolve(*array.target)) : 0;
  const uint64_t count = array.count.value_or(0);
  if (stride == 0 || count == 0) return note(std::move(name), "<no length>");
  const bool is_text = is_character(*array.target);
  const uint64_t room = (extent.end - std::min(extent.end, extent.offset)) / stride;
  const uint64_t shown =
      std::min<uint64_t>({count, room, is_text ? budget.limits.string_max : budget.limits.elements});
  if (shown == 0) return note(std::move(name), "...");
  Shape shape{.kind = is_text ? Shape::Kind::kText : Shape::Kind::kArray,
              .name = std::move(name),
              .output = extent.output,
              .offset = static_cast<uint32_t>(extent.offset),
              .size = static_cast<uint32_t>(shown * stride),
              .count = static_cast<uint32_t>(shown)};
  if (is_text) return shape;
  shape.members.push_back(
      layout_shape("", *array.target, {.output = extent.output, .end = stride}, depth, budget));
  if (shown < count) shape.members.push_back(note("...", fmt::format("{} more", count - shown)));
  return shape;
}

// libstdc++'s std::tuple calls all elements the same, and has the last one first.
void name_elements(Shape& tuple) {
  auto& members = tuple.members;
  const auto is_element = [](const Shape& member) { return member.name == "_M_head_impl"; };
  if (members.size() < 2 || !std::all_of(members.begin(), members.end(), is_element)) return;
  std::reverse(members.begin(), members.end());
  for (size_t i = 0; i < members.size(); ++i) members[i].name = fmt::format("[{}]", i);
}

// Rust's enums: which one it is, then the data of all of them, of which readers show that one.
Shape variant_shape(std::string name, const Type& type, const Member& tag, const Extent& extent,
                    uint32_t depth, ShapeBudget& budget) {
  Shape which = scalar_shape("variant", *tag.type, extent.output, extent.offset + tag.offset);
  which.kind = Shape::Kind::kEnum;
  which.is_signed = false;
  which.enumerators = type.enumerators;
  Shape shape{.kind = Shape::Kind::kStruct,
              .name = std::move(name),
              .output = extent.output,
              .offset = static_cast<uint32_t>(extent.offset),
              .size = static_cast<uint32_t>(type.size)};
  shape.members.push_back(std::move(which));
  for (const Member& variant : type.members) {
    uint64_t offset = 0;
    const Member* data = variant.name.empty() ? nullptr : data_of(variant, offset);
    if (!data || !budget.take()) continue;
    Extent at = extent;
    at.offset += offset;
    if (at.offset + size_of(resolve(*data->type)) <= extent.end)
      shape.members.push_back(layout_shape(variant.name, *data->type, at, depth + 1, budget));
  }
  return shape;
}

Shape struct_shape(std::string name, const Type& type, const Extent& extent, uint32_t depth,
                   ShapeBudget& budget) {
  if (depth >= budget.limits.depth) return note(std::move(name), "{...}");
  const Member* tag = tag_of(type);
  if (tag && extent.offset + tag->offset + resolve(*tag->type).size <= extent.end)
    return variant_shape(std::move(name), type, *tag, extent, depth, budget);
  Shape shape{.kind = Shape::Kind::kStruct,
              .name = std::move(name),
              .output = extent.output,
              .offset = static_cast<uint32_t>(extent.offset),
              .size = static_cast<uint32_t>(type.size)};
  for (const FoundMember& m : members_of(type)) {
    if (!budget.take()) {
      shape.members.push_back(note("...", "more members"));
      break;
    }
    const uint64_t at = extent.offset + m.offset;
    if (at + size_of(resolve(*m.member->type)) > extent.end && m.member->bit_size == 0) {
      shape.members.push_back(note("...", "cut"));
      break;
    }
    shape.members.push_back(member_shape(m, extent, depth + 1, budget));
  }
  name_elements(shape);
  return shape;
}

}  // namespace

Shape note(std::string name, std::string text) {
  return {.kind = Shape::Kind::kNote, .name = std::move(name), .note = std::move(text)};
}

Shape::Kind scalar_kind(const Type& type) {
  const Type& t = resolve(type);
  switch (t.kind) {
    case TypeKind::kInt:
      return is_word_part(t.size) ? Shape::Kind::kInt : Shape::Kind::kNote;
    case TypeKind::kBool:
      return Shape::Kind::kBool;
    case TypeKind::kChar:
      return t.size == 1 && is_character(type) ? Shape::Kind::kChar : Shape::Kind::kInt;
    case TypeKind::kFloat:
      return t.size == 4 || t.size == 8 || t.size == 16 ? Shape::Kind::kFloat : Shape::Kind::kNote;
    case TypeKind::kEnum:
      return is_word_part(t.size) ? Shape::Kind::kEnum : Shape::Kind::kNote;
    case TypeKind::kPointer:
    case TypeKind::kReference:
    case TypeKind::kFunction:
      return Shape::Kind::kAddress;
    default:
      return Shape::Kind::kNote;
  }
}

Shape scalar_shape(std::string name, const Type& type, uint32_t output, uint64_t offset) {
  const Type& t = resolve(type);
  Shape shape{.kind = scalar_kind(type), .name = std::move(name), .output = output};
  shape.offset = static_cast<uint32_t>(offset);
  shape.size = static_cast<uint32_t>(shape.kind == Shape::Kind::kAddress ? kWord : t.size);
  shape.is_signed = t.is_signed;
  if (shape.kind == Shape::Kind::kEnum) shape.enumerators = t.enumerators;
  return shape;
}

Shape layout_shape(std::string name, const Type& type, const Extent& extent, uint32_t depth,
                   ShapeBudget& budget) {
  const Type& t = resolve(type);
  if (scalar_kind(type) != Shape::Kind::kNote)
    return scalar_shape(std::move(name), type, extent.output, extent.offset);
  if (t.kind == TypeKind::kInt && t.size == kTwoWords) return halves(std::move(name), extent);
  if (t.kind == TypeKind::kArray) return array_shape(std::move(name), t, extent, depth, budget);
  if (is_aggregate(t)) return struct_shape(std::move(name), t, extent, depth, budget);
  return note(std::move(name), "<unknown type>");
}

Shape member_shape(const FoundMember& found, const Extent& extent, uint32_t depth, ShapeBudget& budget) {
  const Member& m = *found.member;
  const Type& type = resolve(*m.type);
  Extent at = extent;
  at.offset += found.offset;
  if (m.bit_size == 0) return layout_shape(m.name, *m.type, at, depth, budget);
  // The smallest number of whole bytes that has the field; of packed ones that need nine there is none.
  const uint64_t first = at.offset + m.bit_offset / 8, bits = m.bit_offset % 8 + m.bit_size;
  uint64_t size = std::bit_ceil((bits + 7) / 8);
  const uint64_t moved = first + size > extent.end && extent.end >= size ? first - (extent.end - size) : 0;
  if (size > kWord || moved * 8 + bits > size * 8 || first + (bits + 7) / 8 > extent.end)
    return note(m.name, "<bit-field>");
  Shape shape = scalar_shape(m.name, *m.type, extent.output, first - moved);
  if (shape.kind == Shape::Kind::kNote) return note(m.name, "<bit-field>");
  shape.size = static_cast<uint32_t>(size);
  if (shape.kind == Shape::Kind::kChar && size > 1)
    shape.kind = Shape::Kind::kInt;  // across two bytes: packed
  shape.is_signed = type.is_signed;
  shape.bit_offset = static_cast<uint8_t>(m.bit_offset % 8 + moved * 8);
  shape.bit_size = m.bit_size;
  return shape;
}

}  // namespace blip::script
