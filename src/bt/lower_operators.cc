// SPDX-License-Identifier: MIT
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "bt/lower.h"

namespace blip::bt {

namespace {

using ExprKind = Expr::Kind;
using script::Op;

struct Arithmetic {
  std::string_view sign;
  Op op;
};
constexpr std::array<Arithmetic, 10> kArithmetic{{{"+", Op::kAdd},
                                                  {"-", Op::kSub},
                                                  {"*", Op::kMul},
                                                  {"/", Op::kDiv},
                                                  {"%", Op::kMod},
                                                  {"&", Op::kAnd},
                                                  {"|", Op::kOr},
                                                  {"^", Op::kXor},
                                                  {"<<", Op::kShl},
                                                  {">>", Op::kShr}}};

bool is_comparison(std::string_view sign) {
  return sign == "==" || sign == "!=" || sign == "<" || sign == "<=" || sign == ">" || sign == ">=";
}

bool is_unsigned(const Type& t) { return t.kind != Type::Kind::kInteger || !t.is_signed; }

}  // namespace

Result<Typed> Lowerer::unary(const Expr& e) {
  if (e.sign == "*") {
    TRY(const Typed of, value(*e.operands[0]));
    return dereference(e, of);
  }
  if (e.sign == "!") {
    TRY(const Value of, truth(*e.operands[0]));
    return of_number(f_.op(Op::kLogicalNot, of), of_kind(Kind::kBool));
  }
  TRY(const Typed of, value(*e.operands[0]));
  if (!of.type.is_number())
    return at(e, fmt::format("{} is for numbers, and this is {}", e.sign, to_string(of.type)));
  if (e.sign == "~") return of_number(f_.op(Op::kNot, of.value()), integer(8, of.type.is_signed));
  const auto constant = f_.constant_of(of.value());
  Type type = integer();
  if (constant && of.type.is_flexible) {
    const auto n = static_cast<int64_t>(0 - *constant);
    type.size = n >= INT8_MIN ? 1 : n >= INT16_MIN ? 2 : n >= INT32_MIN ? 4 : 8;
  }
  return of_number(f_.op(Op::kNeg, of.value()), type);
}

Result<Typed> Lowerer::binary(const Expr& e) {
  if (e.sign == "&&" || e.sign == "||") return logical(e);
  TRY(Typed a, value(*e.operands[0]));
  if (has_effects(*e.operands[1])) keep(a);
  TRY(const Typed b, value(*e.operands[1]));
  return compute(e, e.sign, a, b);
}

// The right side is looked at only if it matters.
Result<Typed> Lowerer::logical(const Expr& e) {
  const bool is_and = e.sign == "&&";
  TRY(const Value a, truth(*e.operands[0]));
  const Type type = of_kind(Kind::kBool);
  if (!has_effects(*e.operands[1])) {
    TRY(const Value b, truth(*e.operands[1]));
    return of_number(f_.op(is_and ? Op::kLogicalAnd : Op::kLogicalOr, a, b), type);
  }
  const uint32_t result = f_.add_local(state::ValueType::kNumber);
  f_.set(result, f_.constant(!is_and));
  const uint32_t more = f_.new_block(), after = f_.new_block();
  f_.branch(a, is_and ? more : after, is_and ? after : more);
  f_.begin(more);
  TRY(const Value b, truth(*e.operands[1]));
  f_.set(result, f_.op(Op::kNotEqual, b, f_.constant(0)));
  f_.begin(after);
  return of_number(f_.get(result), type);
}

Result<Typed> Lowerer::compute(const Expr& e, std::string_view sign, const Typed& a, const Typed& b) {
  if (!a.has_value() || !b.has_value()) return at(e, "one side has no value");
  if (is_comparison(sign)) return compare(e, sign, a, b);
  if (a.type.kind == Kind::kPointer && (sign == "+" || sign == "-") && b.type.kind != Kind::kPointer)
    return move_pointer(e, sign, a, b);
  if (b.type.kind == Kind::kPointer && sign == "+") return move_pointer(e, sign, b, a);
  if (!a.type.is_number() || !b.type.is_number()) {
    if (a.type.is_text() && b.type.is_text() && sign == "+")
      return at(e, "texts are not added: use printf(\"%s%s\", a, b)");
    return at(e, fmt::format("{} is for numbers, and here are {} and {}", sign, to_string(a.type),
                             to_string(b.type)));
  }
  return arithmetic(sign, a, b);
}

Result<Typed> Lowerer::arithmetic(std::string_view sign, const Typed& a, const Typed& b) {
  const auto* found = std::find_if(kArithmetic.begin(), kArithmetic.end(),
                                   [&](const Arithmetic& known) { return known.sign == sign; });
  const bool is_shift = sign == "<<" || sign == ">>";
  Type type = integer();
  type.is_flexible = a.type.is_flexible && b.type.is_flexible;
  if (is_shift)
    type.is_signed = a.type.is_signed;
  else if (a.type.is_flexible != b.type.is_flexible)
    type.is_signed = a.type.is_flexible ? !is_unsigned(b.type) : !is_unsigned(a.type);
  else
    type.is_signed = !is_unsigned(a.type) || !is_unsigned(b.type);
  const bool is_division = sign == "/" || sign == "%";
  const bool has_sign = (is_division || sign == ">>") && type.is_signed;
  Value result = f_.op(found->op, a.value(), b.value(), has_sign);
  // bpftrace divides by 1 in place of 0, and warns.
  if (is_division && f_.constant_of(b.value()).value_or(0) == 0)
    result = f_.or_default(result, f_.constant(1));
  return of_number(result, type);
}

Result<Typed> Lowerer::move_pointer(const Expr& e, std::string_view sign, const Typed& pointer,
                                    const Typed& by) {
  if (!by.type.is_number()) return at(e, "a pointer moves by a number");
  const uint64_t size =
      pointer.type.target ? std::max<uint64_t>(1, script::resolve(*pointer.type.target).size) : 1;
  const Value offset = f_.op(Op::kMul, by.value(), f_.constant(size));
  return Typed{.type = pointer.type,
               .leaves = {f_.op(sign == "+" ? Op::kAdd : Op::kSub, pointer.value(), offset)}};
}

Result<Typed> Lowerer::compare(const Expr& e, std::string_view sign, const Typed& left, const Typed& right) {
  TRY(const Typed a, whole(e, left));
  TRY(const Typed b, whole(e, right));
  const Type truth = of_kind(Kind::kBool);
  const auto is_bytes = [](const Type& t) { return t.is_text() || t.kind == Kind::kBuffer; };
  if (is_bytes(a.type) && is_bytes(b.type)) return compare_texts(e, sign, a, b);
  if (a.type.is_several() && b.type.is_several() && (sign == "==" || sign == "!=")) {
    if (common_type(a.type, b.type).kind == Kind::kNothing) return at(e, "the two have different types");
    Value equal = f_.constant(1);
    for (size_t i = 0; i < a.leaves.size(); ++i) {
      const Value same =
          a.leaves[i].is_text()
              ? f_.op(Op::kEqual, f_.apply("compare", {a.leaves[i], b.leaves[i]}), f_.constant(0))
              : f_.op(Op::kEqual, a.leaves[i], b.leaves[i]);
      equal = f_.op(Op::kLogicalAnd, equal, same);
    }
    return of_number(sign == "==" ? equal : f_.op(Op::kLogicalNot, equal), truth);
  }
  if (!a.type.is_number() || !b.type.is_number())
    return at(e, fmt::format("{} and {} cannot be compared", to_string(a.type), to_string(b.type)));
  const Type both = a.type.kind == Kind::kInteger && b.type.kind == Kind::kInteger
                        ? common_type(a.type, b.type)
                        : integer(8, false);
  const bool is_signed = both.is_signed && (a.type.kind == Kind::kInteger || b.type.kind == Kind::kInteger);
  const Value x = a.value(), y = b.value();
  if (sign == "==") return of_number(f_.op(Op::kEqual, x, y), truth);
  if (sign == "!=") return of_number(f_.op(Op::kNotEqual, x, y), truth);
  if (sign == "<") return of_number(f_.op(Op::kLess, x, y, is_signed), truth);
  if (sign == "<=") return of_number(f_.op(Op::kLessEqual, x, y, is_signed), truth);
  if (sign == ">") return of_number(f_.op(Op::kLess, y, x, is_signed), truth);
  return of_number(f_.op(Op::kLessEqual, y, x, is_signed), truth);
}

Result<Typed> Lowerer::compare_texts(const Expr& e, std::string_view sign, const Typed& a, const Typed& b) {
  if (sign != "==" && sign != "!=") return at(e, "texts are compared with == and !=");
  const Value order = f_.apply("compare", {a.value(), b.value()});
  return of_number(f_.op(sign == "==" ? Op::kEqual : Op::kNotEqual, order, f_.constant(0)),
                   of_kind(Kind::kBool));
}

// $x++ and @x[k]++: the value before; ++$x: behind.
Result<Typed> Lowerer::increment(const Expr& e) {
  const Expr& target = *e.operands[0];
  const bool is_up = e.sign == "++";
  if (target.kind == ExprKind::kVariable) {
    TRY(Typed before, value(target));
    if (!before.type.is_number()) return at(e, fmt::format("{} is for numbers", e.sign));
    before.leaves[0] = f_.keep(before.leaves[0]);
    Typed one = of_number(f_.constant(1), integer(1));
    one.type.is_flexible = true;
    TRY(Typed after, compute(e, is_up ? "+" : "-", before, one));
    if (before.type.kind != Kind::kPointer) after.type = integer(8, before.type.is_signed);
    if (Variable* variable = find_variable(target.text);
        variable->is_declared && variable->type.kind == Kind::kInteger) {
      TRY(after, cast_to(e, after, variable->type));
    }
    after.leaves[0] = f_.keep(after.leaves[0]);
    TRY_OK(assign_variable(target, after));
    return e.is_prefix ? after : before;
  }
  MapShape& shape = map(target);
  TRY(const std::vector<Value> key, key_of(target, shape));
  if (shape.value.kind == Kind::kPointer) {
    TRY(Typed before, read_map(shape, key, target));
    keep(before);
    TRY(Typed after, move_pointer(e, is_up ? "+" : "-", before, of_number(f_.constant(1))));
    keep(after);
    TRY_OK(put(shape, key, after, target));
    return e.is_prefix ? after : before;
  }
  TRY_OK(set_value_type(shape, integer(), target));
  const Value by = f_.constant(is_up ? 1 : UINT64_MAX);
  const Value after = f_.add_to(map_number(shape), key, by);
  return of_number(e.is_prefix ? after : f_.op(Op::kSub, after, by), shape.value);
}

Result<Typed> Lowerer::cast(const Expr& e) {
  TRY(Typed of, value(*e.operands[0]));
  TRY(const Type type, type_of(*e.type));
  if (!of.has_value() && !of.operand) return at(e, "this has no value");
  return cast_to(e, of, type);
}

Result<Typed> Lowerer::cast_to(const Expr& e, const Typed& of, const Type& type) {
  if (type.is_unknown() || of.type.is_unknown())
    return Typed{.type = of.type.is_unknown() ? type : of.type,
                 .leaves = of.type.is_unknown() && count_leaves(type) != of.leaves.size() ? unknown().leaves
                                                                                          : of.leaves};
  if (type.is_several() || of.type.is_several()) {
    if (common_type(type, of.type).kind == Kind::kNothing)
      return at(e, fmt::format("{} cannot become {}", to_string(of.type), to_string(type)));
    Typed result{.type = type};
    if (type.kind != Kind::kRecord) {
      result.leaves = of.leaves;
      return result;
    }
    for (const Field& f : type.fields) {  // by name
      size_t first = 0;
      for (const Field& have : of.type.fields) {
        const size_t count = count_leaves(have.type);
        if (have.name == f.name)
          for (size_t i = 0; i < count; ++i) result.leaves.push_back(of.leaves[first + i]);
        first += count;
      }
    }
    return result;
  }
  if (type.is_text() || type.kind == Kind::kBuffer) {
    if (of.type.kind != type.kind)
      return at(e, fmt::format("{} cannot become {}", to_string(of.type), to_string(type)));
    return of;
  }
  if (of.type.kind == type.kind && type.kind != Kind::kInteger) {
    Typed result = of;
    result.type = type;
    return result;
  }
  if (!of.type.is_number() && !(of.type.kind == Kind::kTimestamp && type.kind == Kind::kInteger))
    return at(e, fmt::format("{} cannot become {}", to_string(of.type), to_string(type)));
  switch (type.kind) {
    case Kind::kBool:
      return of_number(f_.op(Op::kNotEqual, of.value(), f_.constant(0)), type);
    case Kind::kInteger:
      return of_number(f_.extend(of.value(), type.size, type.is_signed), type);
    case Kind::kEnum:
      return of_number(of.value(), type);
    case Kind::kPointer:
      return Typed{.type = type, .leaves = of.leaves};
    case Kind::kTarget:
      return at(e,
                fmt::format("a structure is reached by a pointer: ({} *)", script::to_string(*type.target)));
    default:
      return at(e, fmt::format("{} cannot become {}", to_string(of.type), to_string(type)));
  }
}

}  // namespace blip::bt
