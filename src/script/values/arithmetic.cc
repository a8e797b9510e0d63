// SPDX-License-Identifier: MIT
#include "script/values/arithmetic.h"

#include <fmt/core.h>

#include <bit>

#include "script/ir/narrow.h"
#include "script/types/diagnostics.h"

namespace blip::script {

namespace {

struct IntType {
  uint64_t size = 4;
  bool is_signed = true;
};

// C's integer promotions.
IntType promoted(const Type& type) {
  if (type.size < 4) return {};
  return {type.size, type.is_signed};
}

// The type that a bit-field is promoted to: int if an int can hold all of its values.
const Type& promoted_field(const Operand& field, const Type& type) {
  constexpr unsigned kBitsOfInt = 32;
  const bool is_integer = type.kind == TypeKind::kInt || type.kind == TypeKind::kEnum ||
                          type.kind == TypeKind::kBool || type.kind == TypeKind::kChar;
  if (!is_integer || field.bit_size == 0 || field.bit_size > kBitsOfInt) return type;
  return int_type(sizeof(int), type.is_signed || field.bit_size < kBitsOfInt);
}

// C's usual arithmetic conversions, by size: long and long long are one.
IntType common(IntType a, IntType b) {
  if (a.size != b.size) return a.size > b.size ? a : b;
  return {a.size, a.is_signed && b.is_signed};
}

bool is_comparison(std::string_view sign) {
  return sign == "==" || sign == "!=" || sign == "<" || sign == "<=" || sign == ">" || sign == ">=";
}

Op operation(std::string_view sign) {
  constexpr std::pair<std::string_view, Op> kOperations[] = {
      {"+", Op::kAdd},  {"-", Op::kSub},  {"*", Op::kMul},    {"/", Op::kDiv},
      {"%", Op::kMod},  {"&", Op::kAnd},  {"|", Op::kOr},     {"^", Op::kXor},
      {"<<", Op::kShl}, {">>", Op::kShr}, {"==", Op::kEqual}, {"!=", Op::kNotEqual}};
  for (const auto& [name, op] : kOperations)
    if (name == sign) return op;
  return sign == "<" || sign == ">" ? Op::kLess : Op::kLessEqual;
}

// A float, which C converts integers to that it meets.
bool is_single(const Type& type) { return type.kind == TypeKind::kFloat && type.size == sizeof(float); }

// An integer as the nearest double, or float. Not by way of the double: that would be rounded twice.
template <typename T>
double nearest(T integer, bool is_float) {
  return is_float ? static_cast<double>(static_cast<float>(integer)) : static_cast<double>(integer);
}

constexpr const char* kNoFloats = "floating-point numbers can be shown and compared, not computed with";

}  // namespace

Operand Arithmetic::integer(uint32_t node, uint64_t size, bool is_signed) {
  return access_.value(builder_.extend(node, size, is_signed), int_type(size, is_signed));
}

Result<Arithmetic::Number> Arithmetic::number(const Operand& a) {
  TRY(const uint32_t node, access_.number(a));
  const Type& type = resolve(*a.type);
  Number n{.node = node, .type = &promoted_field(a, type)};
  switch (type.kind) {
    case TypeKind::kArray:
      n.is_pointer = true;
      n.type = type.target ? &access_.types().pointer_to(*type.target) : &type;
      break;
    case TypeKind::kFunction:
    case TypeKind::kPointer:
    case TypeKind::kReference:
      n.is_pointer = true;
      break;
    case TypeKind::kFloat:
      n.is_float = true;
      break;
    default:
      break;
  }
  return n;
}

Arithmetic::Number Arithmetic::converted(const Number& n, uint64_t size, bool is_signed) {
  return {.node = builder_.extend(n.node, size, is_signed), .type = &int_type(size, is_signed)};
}

Result<uint32_t> Arithmetic::truth(const Operand& a) {
  TRY(const Number n, number(a));
  if (!n.is_float) return n.node;
  const uint32_t is_zero = builder_.add(Op::kEqualFloat, n.node, builder_.constant(0));
  return builder_.add(Op::kLogicalNot, is_zero);
}

Result<Operand> Arithmetic::unary(std::string_view sign, const Operand& a) {
  if (sign == "!") {
    TRY(const uint32_t node, truth(a));
    return truth_value(builder_.add(Op::kEqual, node, builder_.constant(0)));
  }
  TRY(const Number n, number(a));
  if (n.is_float) {
    const auto value = builder_.constant_of(n.node);
    if (!value || sign == "~") return refusal(kNoFloats);
    if (sign == "+") return a;
    const double negative = -std::bit_cast<double>(*value);
    return access_.value(builder_.constant(std::bit_cast<uint64_t>(negative)), *builtin_type("double"));
  }
  if (n.is_pointer) return not_this(a, fmt::format("is a pointer, of which there is no {}", sign));
  const IntType type = promoted(*n.type);
  if (sign == "+") return integer(n.node, type.size, type.is_signed);
  return integer(builder_.add(sign == "-" ? Op::kNeg : Op::kNot, n.node), type.size, type.is_signed);
}

Result<Operand> Arithmetic::binary(std::string_view sign, const Operand& left, const Operand& right) {
  TRY(const Number a, number(left));
  TRY(const Number b, number(right));
  if (is_comparison(sign)) return compare(sign, a, b);
  if (a.is_float || b.is_float) return refusal(kNoFloats);
  if (a.is_pointer && b.is_pointer) {
    if (sign == "-") return distance(a, b);
  } else if (a.is_pointer && (sign == "+" || sign == "-")) {
    return move_pointer(sign, a, b);
  } else if (b.is_pointer && sign == "+") {
    return move_pointer(sign, b, a);
  } else if (!a.is_pointer && !b.is_pointer) {
    return of_integers(sign, a, b);
  }
  return refusal(fmt::format("there is no {} {} {}: cast pointers to (long) first", to_string(*left.type),
                             sign, to_string(*right.type)));
}

// A comparison that can only have one result is a mistake.
Status Arithmetic::check_range(const Number& a, const Number& b) const {
  const auto value = builder_.constant_of(b.node);
  if (!value || builder_.constant_of(a.node) || a.type->size >= 8 || a.is_pointer || a.is_float) return {};
  const unsigned bits = static_cast<unsigned>(a.type->size * 8);
  const auto number = static_cast<int64_t>(*value);
  const bool is_huge = number < 0 && !b.type->is_signed;
  const int64_t most = a.type->is_signed ? (int64_t{1} << (bits - 1)) - 1 : (int64_t{1} << bits) - 1;
  const int64_t least = a.type->is_signed ? -most - 1 : -(int64_t{1} << (bits - 1));  // -1 means all bits
  // As C has it, an int that is compared with an unsigned int is one.
  if (a.type->size == 4 && b.type->size == 4 && !b.type->is_signed) return {};
  if (number > most || is_huge) return refusal(fmt::format("no {} is that large", to_string(*a.type)));
  if (number < least) return refusal(fmt::format("no {} is that small", to_string(*a.type)));
  return {};
}

Result<Operand> Arithmetic::compare(std::string_view sign, const Number& a, const Number& b) {
  if (a.is_float || b.is_float) return compare_floats(sign, a, b);
  if (sign == "==" || sign == "!=") {
    TRY_OK(check_range(a, b));
    TRY_OK(check_range(b, a));
  }
  IntType type{8, false};  // of addresses
  if (!a.is_pointer && !b.is_pointer) type = common(promoted(*a.type), promoted(*b.type));
  uint32_t left = builder_.extend(a.node, type.size, type.is_signed);
  uint32_t right = builder_.extend(b.node, type.size, type.is_signed);
  if (sign.starts_with('>')) std::swap(left, right);
  const Op op = operation(sign);
  const bool is_order = op == Op::kLess || op == Op::kLessEqual;
  return truth_value(builder_.add(op, left, right, is_order && type.is_signed));
}

Result<uint32_t> Arithmetic::as_double(const Number& n, bool is_float) {
  if (n.is_float) return n.node;
  const auto value = builder_.constant_of(n.node);
  if (!value || n.is_pointer)
    return refusal("a floating-point number can be compared with another, or with a constant");
  const auto number =
      n.type->is_signed ? nearest(static_cast<int64_t>(*value), is_float) : nearest(*value, is_float);
  return builder_.constant(std::bit_cast<uint64_t>(number));
}

Result<Operand> Arithmetic::compare_floats(std::string_view sign, const Number& a, const Number& b) {
  TRY(uint32_t left, as_double(a, is_single(*b.type)));
  TRY(uint32_t right, as_double(b, is_single(*a.type)));
  if (sign.starts_with('>')) std::swap(left, right);
  if (sign == "==" || sign == "!=") {
    const uint32_t equal = builder_.add(Op::kEqualFloat, left, right);
    return truth_value(sign == "==" ? equal : builder_.add(Op::kLogicalNot, equal));
  }
  return truth_value(builder_.add(sign.size() == 1 ? Op::kLessFloat : Op::kLessEqualFloat, left, right));
}

namespace {

// The unit of arithmetic on the pointer, in bytes. void counts as one byte.
Result<uint64_t> step(const Type& pointer) {
  const Type* target = pointer.target ? &resolve(*pointer.target) : nullptr;
  if (!target || target->kind == TypeKind::kVoid || target->kind == TypeKind::kFunction) return uint64_t{1};
  if (target->size == 0)
    return refusal(fmt::format("the size of {} is not known", to_string(*pointer.target)));
  return target->size;
}

}  // namespace

Result<Operand> Arithmetic::move_pointer(std::string_view sign, const Number& pointer, const Number& by) {
  TRY(const uint64_t size, step(*pointer.type));
  const uint32_t bytes = builder_.add(Op::kMul, by.node, builder_.constant(size));
  const uint32_t moved = builder_.add(sign == "+" ? Op::kAdd : Op::kSub, pointer.node, bytes);
  return access_.value(moved, *pointer.type);
}

Result<Operand> Arithmetic::distance(const Number& a, const Number& b) {
  TRY(const uint64_t size, step(*a.type));
  TRY(const uint64_t other, step(*b.type));
  if (size != other) return refusal("the pointers are to types of different sizes");
  const uint32_t bytes = builder_.add(Op::kSub, a.node, b.node);
  return integer(builder_.add(Op::kDiv, bytes, builder_.constant(size), true), 8, true);
}

Result<Operand> Arithmetic::of_integers(std::string_view sign, const Number& a, const Number& b) {
  const bool is_shift = sign == "<<" || sign == ">>";
  const IntType left = promoted(*a.type);
  const IntType type = is_shift ? left : common(left, promoted(*b.type));
  const Number x = converted(a, type.size, type.is_signed);
  const Number y = is_shift ? b : converted(b, type.size, type.is_signed);
  const Op op = operation(sign);
  if ((op == Op::kDiv || op == Op::kMod) && builder_.constant_of(y.node) == 0)
    return refusal("division by zero");
  const bool by_sign = op == Op::kDiv || op == Op::kMod || op == Op::kShr;
  return integer(builder_.add(op, x.node, y.node, by_sign && type.is_signed), type.size, type.is_signed);
}

Result<Operand> Arithmetic::logical(std::string_view sign, const Operand& a, const Operand& b) {
  TRY(const uint32_t left, truth(a));
  TRY(const uint32_t right, truth(b));
  return truth_value(builder_.add(sign == "&&" ? Op::kLogicalAnd : Op::kLogicalOr, left, right));
}

Result<Operand> Arithmetic::conditional(const Operand& test, const Operand& yes, const Operand& no) {
  TRY(const uint32_t condition, truth(test));
  TRY(Number a, number(yes));
  TRY(Number b, number(no));
  const bool is_float = (is_single(*a.type) || !a.is_float) && (is_single(*b.type) || !b.is_float);
  if (a.is_float != b.is_float) {
    TRY(a.node, as_double(a, is_float));
    TRY(b.node, as_double(b, is_float));
    a.is_float = b.is_float = true;
  }
  const auto select = [&] {
    return builder_.add({.op = Op::kSelect, .a = condition, .b = a.node, .c = b.node});
  };
  if (a.is_float && is_float) return access_.value(narrow(builder_, select()), *builtin_type("float"));
  if (a.is_float) return access_.value(select(), *builtin_type("double"));
  if (a.is_pointer || b.is_pointer) {
    const bool same = a.is_pointer && b.is_pointer;
    const bool other_is_null = builder_.constant_of(a.is_pointer ? b.node : a.node) == 0;
    if (!same && !other_is_null) return refusal("one side is a pointer, the other is none");
    return access_.value(select(), a.is_pointer ? *a.type : *b.type);
  }
  const IntType type = common(promoted(*a.type), promoted(*b.type));
  a = converted(a, type.size, type.is_signed);
  b = converted(b, type.size, type.is_signed);
  return integer(select(), type.size, type.is_signed);
}

Result<Operand> Arithmetic::cast(const Operand& a, const Type& type) {
  const Type& to = resolve(type);
  TRY(const Number n, number(a));
  switch (to.kind) {
    case TypeKind::kBool: {
      TRY(const uint32_t node, truth(a));
      return access_.value(builder_.add(Op::kNotEqual, node, builder_.constant(0)), type);
    }
    case TypeKind::kInt:
    case TypeKind::kChar:
    case TypeKind::kEnum:
      if (n.is_float) return refusal(kNoFloats);
      if (to.size > 8 || !std::has_single_bit(to.size)) break;
      return access_.value(builder_.extend(n.node, to.size, to.is_signed), type);
    case TypeKind::kPointer:
      if (n.is_float) break;
      return access_.value(n.node, type);
    case TypeKind::kFloat: {
      const bool is_float = to.size == sizeof(float);
      TRY(const uint32_t node, as_double(n, is_float));
      if (is_float && n.is_float && n.type->size == sizeof(float)) return a;
      return access_.value(is_float ? narrow(builder_, node) : node,
                           *builtin_type(is_float ? "float" : "double"));
    }
    default:
      break;
  }
  return refusal(fmt::format("{} cannot be taken as {}", to_string(*a.type), to_string(type)));
}

}  // namespace blip::script
