// SPDX-License-Identifier: MIT
#include "session/captured_fields.h"

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
    case Shape::Kind::kNote:
      break;
  }
  return ctf::FieldType::kNote;
}

bool reads_or_divides(script::Op op) {
  switch (op) {
    case script::Op::kLoad:
    case script::Op::kDiv:
    case script::Op::kMod:
    case script::Op::kTextEqual:
    case script::Op::kTextPrefix:
    case script::Op::kBytesEqual:
    case script::Op::kEntryValue:
      return true;
    default:
      return false;
  }
}

}  // namespace

void add_captured_field(const Shape& shape, std::vector<ctf::Field>& fields) {
  ctf::Field field{.name = shape.name,
                   .type = type_of(shape.kind),
                   .output = shape.output,
                   .begin = shape.offset,
                   .size = shape.size,
                   .is_signed = shape.is_signed,
                   .is_hex = shape.kind == Shape::Kind::kAddress,
                   .bit_offset = shape.bit_offset,
                   .bit_size = shape.bit_size,
                   .count = shape.count,
                   .note = shape.note};
  for (const script::Enumerator& e : shape.enumerators) field.labels.push_back({e.value, e.name});
  const bool is_array = shape.kind == Shape::Kind::kArray;
  if (is_array && shape.count != 0) field.size = shape.size / shape.count;
  for (const Shape& member : shape.members)
    if (!is_array || field.members.empty()) add_captured_field(member, field.members);
  fields.push_back(std::move(field));
  if (is_array && shape.members.size() > 1)
    fields.push_back(
        {.name = shape.name + "_more", .type = ctf::FieldType::kNote, .note = shape.members.back().note});
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
    case script::Output::Kind::kSequence:
      break;
  }
  return {.kind = Kind::kSequence, .size = output.size, .count = output.count, .may_fault = may_fault};
}

// Operands that a node does not have are node 0, which is an operand of something: looking at it too may only
// say "may" too often.
bool may_fault(const script::Code& code, uint32_t node) {
  std::vector<bool> seen(code.nodes.size());
  std::vector<uint32_t> open{node};
  while (!open.empty()) {
    const uint32_t at = open.back();
    open.pop_back();
    if (seen[at]) continue;
    seen[at] = true;
    const script::Node& n = code.nodes[at];
    if (reads_or_divides(n.op)) return true;
    for (uint32_t operand : {n.a, n.b, n.c})
      if (operand < at) open.push_back(operand);
  }
  return false;
}

bool may_fault(const script::Code& code, const script::Output& output) {
  return output.kind != script::Output::Kind::kValue || may_fault(code, output.node);
}

}  // namespace blip::session
