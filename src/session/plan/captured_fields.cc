// SPDX-License-Identifier: MIT
#include "session/plan/captured_fields.h"

namespace blip::session {

namespace {

using script::Shape;

ctf::FieldType type_of(Shape::Kind kind) {
  switch (kind) {
    case Shape::Kind::kInt:
    case Shape::Kind::kAddress:
      return ctf::FieldType::kInt;
    case Shape::Kind::kBool:
      return ctf::FieldType::kBool;
    case Shape::Kind::kChar:
      return ctf::FieldType::kChar;
    case Shape::Kind::kFloat:
      return ctf::FieldType::kFloat;
    case Shape::Kind::kEnum:
      return ctf::FieldType::kEnum;
    case Shape::Kind::kText:
      return ctf::FieldType::kText;
    case Shape::Kind::kArray:
      return ctf::FieldType::kArray;
    case Shape::Kind::kSequence:
      return ctf::FieldType::kSequence;
    case Shape::Kind::kStruct:
      return ctf::FieldType::kStruct;
    case Shape::Kind::kCollected:
      return ctf::FieldType::kCollected;
    case Shape::Kind::kCollectedText:
      return ctf::FieldType::kCollectedText;
    case Shape::Kind::kNote:
      break;
  }
  return ctf::FieldType::kNote;
}

ctf::FieldGroup group_of(script::Origin origin) {
  switch (origin) {
    case script::Origin::kParameter:
      return ctf::FieldGroup::kArgument;
    case script::Origin::kLocal:
      return ctf::FieldGroup::kLocal;
    case script::Origin::kContext:
      return ctf::FieldGroup::kContext;
    case script::Origin::kCapture:
      break;
  }
  return ctf::FieldGroup::kCapture;
}

}  // namespace

void add_captured_field(const Shape& shape, std::vector<ctf::Field>& fields) {
  ctf::Field field{.name = shape.name,
                   .type = type_of(shape.kind),
                   .output = shape.output,
                   .begin = shape.offset,
                   .size = shape.size,
                   .is_signed = shape.is_signed,
                   .is_hex = shape.is_hex || shape.kind == Shape::Kind::kAddress,
                   .bit_offset = shape.bit_offset,
                   .bit_size = shape.bit_size,
                   .count = shape.count,
                   .note = shape.note,
                   .group = group_of(shape.origin)};
  for (const script::Enumerator& e : shape.enumerators) field.labels.push_back({e.value, e.name});
  const bool is_array = shape.kind == Shape::Kind::kArray;
  if (is_array && shape.count != 0) field.size = shape.size / shape.count;
  const bool has_elements =
      is_array || shape.kind == Shape::Kind::kSequence || shape.kind == Shape::Kind::kCollected;
  for (const Shape& member : shape.members)
    if (!has_elements || field.members.empty()) add_captured_field(member, field.members);
  if (has_elements) field.members.resize(1);  // an array that is cut, as an element, has no room for its note
  fields.push_back(std::move(field));
  if (is_array && shape.members.size() > 1)
    fields.push_back({.name = shape.name + "_more",
                      .type = ctf::FieldType::kNote,
                      .note = shape.members.back().note,
                      .group = group_of(shape.origin)});
}

ctf::RecordOutput record_output(const script::Output& output, bool may_fault) {
  using Kind = ctf::RecordOutput::Kind;
  switch (output.kind) {
    case script::Output::Kind::kValue:
      return {.kind = Kind::kFixed, .size = output.size, .may_fault = may_fault};
    case script::Output::Kind::kBytes:
      return {.kind = Kind::kFixed, .size = output.count, .may_fault = may_fault};
    case script::Output::Kind::kString:
      return {.kind = Kind::kString, .size = 1, .count = output.count, .may_fault = may_fault};
    case script::Output::Kind::kCollected:
      return {.kind = Kind::kCollected, .size = 1, .count = output.count, .may_fault = false};
    case script::Output::Kind::kSequence:
      break;
  }
  return {.kind = Kind::kSequence, .size = output.size, .count = output.count, .may_fault = may_fault};
}

}  // namespace blip::session
