// SPDX-License-Identifier: MIT
// Arithmetic of DWARF expressions. Numbers without a type have the size of an address; those with one (DWARF
// 5, 2.5.1) are integers here: floats are not calculated with.
#include <dwarf.h>

#include "dwarf/expression.h"
#include "dwarf/units/die.h"

namespace blip::dwarf {

using script::Op;

Expression::Value Expression::typed(Id node, const Value& like) {
  if (like.size == 0) return {node};
  if (like.is_bit) return {nodes_.binary(Op::kAnd, node, nodes_.constant(1)), like.size, false};
  return {nodes_.extend(node, like.size, like.is_signed), like.size, like.is_signed};
}

bool Expression::unary(const Dwarf_Op& op) {
  const auto a = pop();
  if (!a) return false;
  switch (op.atom) {
    case DW_OP_neg:
      return push(typed(nodes_.add({.op = Op::kNeg, .a = a->node}), *a));
    case DW_OP_not:
      return push(typed(nodes_.add({.op = Op::kNot, .a = a->node}), *a));
    case DW_OP_plus_uconst:
      return push(typed(nodes_.plus(a->node, op.number), *a));
    default:
      return false;
  }
}

bool Expression::binary(Op op, bool is_signed) {
  const auto b = pop();
  const auto a = pop();
  if (!a || !b) return false;
  const bool is_shift = op == Op::kShl || op == Op::kShr;
  if (!is_shift && (a->size != b->size || a->is_signed != b->is_signed)) return false;
  if (a->size != 0 && (op == Op::kDiv || op == Op::kMod)) is_signed = a->is_signed;
  Id left = a->node;
  if (op == Op::kShr && a->size != 0) left = nodes_.extend(left, a->size, is_signed);
  return push(typed(nodes_.binary(op, left, b->node, is_signed), *a));
}

bool Expression::calculate(const Dwarf_Op& op) {
  switch (op.atom) {
    case DW_OP_neg:
    case DW_OP_not:
    case DW_OP_plus_uconst:
      return unary(op);
    case DW_OP_plus:
      return binary(Op::kAdd, false);
    case DW_OP_minus:
      return binary(Op::kSub, false);
    case DW_OP_mul:
      return binary(Op::kMul, false);
    case DW_OP_div:
      return binary(Op::kDiv, true);
    case DW_OP_mod:
      return binary(Op::kMod, false);
    case DW_OP_and:
      return binary(Op::kAnd, false);
    case DW_OP_or:
      return binary(Op::kOr, false);
    case DW_OP_xor:
      return binary(Op::kXor, false);
    case DW_OP_shl:
      return binary(Op::kShl, false);
    case DW_OP_shr:
      return binary(Op::kShr, false);
    case DW_OP_shra:
      return binary(Op::kShr, true);
    default:
      return false;
  }
}

// Numbers without a type are compared as signed ones.
bool Expression::compare(const Dwarf_Op& op) {
  if (op.atom < DW_OP_eq || op.atom > DW_OP_ne) return false;
  auto b = pop();
  auto a = pop();
  if (!a || !b || a->size != b->size || a->is_signed != b->is_signed) return false;
  const bool is_signed = a->size == 0 || a->is_signed;
  const bool swapped = op.atom == DW_OP_gt || op.atom == DW_OP_ge;
  if (swapped) std::swap(a, b);
  Op what = Op::kEqual;
  if (op.atom == DW_OP_ne) what = Op::kNotEqual;
  if (op.atom == DW_OP_lt || op.atom == DW_OP_gt) what = Op::kLess;
  if (op.atom == DW_OP_le || op.atom == DW_OP_ge) what = Op::kLessEqual;
  return push(nodes_.add({.op = what, .is_signed = is_signed, .a = a->node, .b = b->node}));
}

// The integer type that an operation names, as a value without a node.
std::optional<Expression::Value> Expression::base_type(const Dwarf_Op& op) {
  Dwarf_Die type;
  if (!attribute_ || ::dwarf_getlocation_die(attribute_, &op, &type) != 0) return std::nullopt;
  const auto size = number(type, DW_AT_byte_size);
  const auto encoding = number(type, DW_AT_encoding);
  if (tag_of(type) != DW_TAG_base_type || !size || !encoding) return std::nullopt;
  if (*size != 1 && *size != 2 && *size != 4 && *size != 8) return std::nullopt;
  if (name_of(type) == "DW_ATE_unsigned_1") return Value{0, 1, false, true};
  switch (*encoding) {
    case DW_ATE_signed:
    case DW_ATE_signed_char:
      return Value{0, static_cast<uint8_t>(*size), true};
    case DW_ATE_unsigned:
    case DW_ATE_unsigned_char:
    case DW_ATE_boolean:
    case DW_ATE_address:
    case DW_ATE_UTF:
      return Value{0, static_cast<uint8_t>(*size), false};
    default:
      return std::nullopt;
  }
}

bool Expression::convert(const Dwarf_Op& op) {
  switch (op.atom) {
    case DW_OP_convert:
    case DW_OP_GNU_convert:
    case DW_OP_reinterpret:
    case DW_OP_GNU_reinterpret: {
      const auto value = pop();
      if (!value) return false;
      if (op.number == 0) return push(value->node);  // to one without a type
      const auto type = base_type(op);
      const bool keeps_bits = op.atom == DW_OP_reinterpret || op.atom == DW_OP_GNU_reinterpret;
      if (!type || (keeps_bits && (value->size == 0 ? 8 : value->size) != type->size)) return false;
      return push(typed(value->node, *type));
    }
    case DW_OP_regval_type:
    case DW_OP_GNU_regval_type: {
      const auto type = base_type(op);
      if (!type || op.number >= 16 || !push_general(static_cast<unsigned>(op.number))) return false;
      stack_.back() = typed(stack_.back().node, *type);
      return true;
    }
    case DW_OP_deref_type:
    case DW_OP_GNU_deref_type: {
      const auto type = base_type(op);
      const auto address = pop();
      if (!type || !address || address->size != 0 || op.number != type->size) return false;
      const Id loaded = nodes_.add(
          {.op = Op::kLoad, .width = type->size, .is_signed = type->is_signed, .a = address->node});
      return push(Value{loaded, type->size, type->is_signed});
    }
    default:
      return false;
  }
}

}  // namespace blip::dwarf
