// SPDX-License-Identifier: MIT
#include "script/checker.h"

#include <fmt/core.h>

#include <charconv>
#include <climits>
#include <utility>

#include "script/elements.h"
#include "script/text_comparison.h"
#include "script/types/diagnostics.h"
#include "script/types/members.h"

namespace blip::script {

namespace {

using Kind = Expression::Kind;

// The range that an error about this level itself underlines.
Range mark_of(const Expression& e) {
  const bool has_mark = e.kind == Kind::kMember || e.kind == Kind::kArrow || e.kind == Kind::kCast;
  return has_mark ? e.mark : e.range;
}

// The element that a name like __0 means.
Result<Operand> tuple_element(const std::vector<Operand>& tuple, std::string_view name) {
  size_t n = 0;
  name.remove_prefix(2);
  const auto [end, failed] = std::from_chars(name.data(), name.data() + name.size(), n);
  if (failed != std::errc() || end != name.data() + name.size() || n >= tuple.size())
    return refusal(fmt::format("the tuple has {} elements: .0 is the first", tuple.size()));
  return tuple[n];
}

}  // namespace

Result<Operand> Checker::check(const Expression& e) {
  auto result = look(e);
  if (!result) return place_error(source_, mark_of(e), result.error());
  const bool has_node = result->node != kNone;
  if (has_node && access_.builder().depth(result->node) > kMaxDepth)
    return error_at(source_, e.range, "this needs too many steps: make it shorter");
  return result;
}

Result<uint32_t> Checker::check_truth(const Expression& e) {
  TRY(const Operand a, check(e));
  auto node = arithmetic_.truth(a);
  if (!node) return place_error(source_, e.range, node.error());
  return *node;
}

Result<Operand> Checker::look(const Expression& e) {
  switch (e.kind) {
    case Kind::kNumber:
      return number(e);
    case Kind::kReal:
      return access_.value(access_.builder().constant(e.number), *builtin_type("double"));
    case Kind::kCharacter:
      return access_.value(access_.builder().constant(e.number), *builtin_type("char"));
    case Kind::kText:
      return Operand{.kind = Operand::Kind::kText, .type = builtin_type("char"), .text = e.text};
    case Kind::kName:
      return names_.variable(e.where, e.text);
    case Kind::kRegister:
      return names_.reg(e.text);
    case Kind::kMember:
    case Kind::kArrow:
      return member(e);
    case Kind::kMethod:
      return method(e);
    case Kind::kIndex:
      return index(e);
    case Kind::kSlice:
      return slice(e);
    case Kind::kUnary:
      return unary(e);
    case Kind::kBinary:
      return binary(e);
    case Kind::kConditional: {
      TRY(const Operand test, check(*e.operands[0]));
      TRY(const Operand yes, check(*e.operands[1]));
      TRY(const Operand no, check(*e.operands[2]));
      return arithmetic_.conditional(test, yes, no);
    }
    case Kind::kCast:
      return cast(e);
    case Kind::kSizeOfType: {
      TRY(const Type* type, names_.type(e.type));
      return size_of(*type);
    }
    case Kind::kCall:
      return call(e);
    case Kind::kGiven:
      return given_[e.number];
  }
  return refusal("this has no meaning");
}

// The first of int, unsigned int, long and unsigned long that has the number; decimals are never unsigned
// unless they must.
Result<Operand> Checker::number(const Expression& e) {
  const uint64_t n = e.number;
  uint64_t size = 8;
  bool is_signed = false;
  if (!e.is_long && !e.is_unsigned && n <= INT_MAX) {
    size = 4;
    is_signed = true;
  } else if (!e.is_long && n <= UINT_MAX && (e.is_unsigned || !e.is_decimal)) {
    size = 4;
  } else {
    is_signed = !e.is_unsigned && n <= INT64_MAX;
  }
  return access_.value(access_.builder().constant(n), int_type(size, is_signed));
}

// a.b of a pointer is a->b, as debuggers have it.
Result<Operand> Checker::member(const Expression& e) {
  TRY(Operand whole, check(*e.operands[0]));
  if (is_text(whole) || whole.kind == Operand::Kind::kSlice) return not_this(whole, "has no members");
  if (e.kind == Kind::kArrow)
    if (const auto optional = find_optional(access_, whole))
      return access_.member(value_of(*optional), e.text);
  if (e.kind == Kind::kMember)
    if (const auto tuple = find_tuple(access_, whole); tuple && e.text.starts_with("__"))
      return tuple_element(*tuple, e.text);
  const auto owned = find_owned(access_, whole);
  if (e.kind == Kind::kArrow && owned) whole = *owned;
  const TypeKind kind = resolve(*whole.type).kind;
  if (e.kind == Kind::kArrow && is_aggregate(resolve(*whole.type)))
    return not_this(whole, "is no pointer: use . instead of ->");
  if (e.kind == Kind::kArrow || kind == TypeKind::kPointer) {
    auto target = access_.dereference(whole);
    if (!target) return place_error(source_, e.operands[0]->range, target.error());
    whole = *std::move(target);
  }
  if (whole.kind == Operand::Kind::kOptimizedOut) return Operand{.type = whole.type, .why = whole.why};
  return access_.member(whole, e.text);
}

// Without a value the bytes of one are anything: it is a fault then.
Operand Checker::value_of(const Optional& optional) {
  const auto has_value = access_.number(optional.has_value);
  Operand value = optional.value;
  if (!has_value) return value;
  Builder& b = access_.builder();
  if (value.kind == Operand::Kind::kMemory) {
    value.node = b.add({.op = Op::kSelect, .a = *has_value, .b = value.node, .c = b.constant(0)});
    return value;
  }
  const auto bits = access_.bits(value);
  if (!bits) return value;
  const uint32_t one_or_fault =
      b.add(Op::kDiv, b.constant(1), b.add(Op::kLogicalNot, b.add(Op::kLogicalNot, *has_value)));
  return access_.value(b.add(Op::kMul, *bits, one_or_fault), *value.type);
}

Result<Operand> Checker::index(const Expression& e) {
  const bool is_loaded = !std::exchange(wants_address_, false);
  TRY(const Operand array, check(*e.operands[0]));
  TRY(const Operand at, check(*e.operands[1]));
  TRY(const Elements known, find_elements(access_, array, type_finder()));
  const Operand& first = known.first;
  const Type& type = resolve(*first.type);
  TRY(const uint32_t n, access_.number(at));
  const auto constant = access_.builder().constant_of(n);
  // Arrays in registers have no address, but known parts.
  if (type.kind == TypeKind::kArray && type.target && constant && first.kind != Operand::Kind::kMemory) {
    const uint64_t size = resolve(*type.target).size;
    if (*constant >= type.count.value_or(0)) return no_such_element(access_.builder(), known);
    return access_.part(first, *constant * size, *type.target);
  }
  TRY(Operand moved, arithmetic_.binary("+", first, at));
  if (known.length != kNone) {
    TRY(moved.node, address_within(access_.builder(), known, n, moved.node, is_loaded));
  }
  return access_.dereference(moved);
}

Result<Operand> Checker::slice(const Expression& e) {
  TRY(const Operand array, check(*e.operands[0]));
  TRY(const Operand begin, check(*e.operands[1]));
  TRY(const Operand end, check(*e.operands[2]));
  TRY(const Elements known, find_elements(access_, array, type_finder()));
  TRY(const Operand moved, arithmetic_.binary("+", known.first, begin));
  TRY(const Operand element, access_.dereference(moved));
  if (element.kind != Operand::Kind::kMemory || resolve(*element.type).size == 0)
    return not_this(array, "cannot be sliced");
  TRY(const uint32_t from, access_.number(begin));
  TRY(uint32_t to, access_.number(end));
  Builder& b = access_.builder();
  if (known.length != kNone) {
    TRY(to, end_within(b, known, from, to));
  }
  // From the larger to the smaller there is nothing.
  const uint32_t is_some = b.add(Op::kLess, from, to, true);
  const uint32_t length =
      b.add({.op = Op::kSelect, .a = is_some, .b = b.add(Op::kSub, to, from), .c = b.constant(0)});
  return Operand{.kind = Operand::Kind::kSlice, .type = element.type, .node = element.node, .length = length};
}

Result<Operand> Checker::address_of(const Operand& a) {
  TRY(const uint32_t node, access_.address(a));
  return access_.value(node, types_.pointer_to(*a.type));
}

Result<Operand> Checker::unary(const Expression& e) {
  wants_address_ = e.text == "&";
  TRY(Operand a, check(*e.operands[0]));
  wants_address_ = false;
  if (e.text == "&") return address_of(a);
  if (e.text != "*") return arithmetic_.unary(e.text, a);
  if (const auto owned = find_owned(access_, a)) return access_.dereference(*owned);
  if (!is_text(a))
    if (const auto optional = find_optional(access_, a)) return value_of(*optional);
  return access_.dereference(a);
}

std::optional<Operand> Checker::label(const Expression& e, const Operand& other) {
  if (e.kind != Kind::kName || !e.where.empty() || is_text(other)) return std::nullopt;
  const Type& type = resolve(*other.type);
  if (type.kind != TypeKind::kEnum) return std::nullopt;
  const size_t colons = e.text.rfind("::");
  const std::string_view last =
      colons == std::string::npos ? e.text : std::string_view(e.text).substr(colons + 2);
  for (const Enumerator& label : type.enumerators)
    if (label.name == e.text || label.name == last)
      return access_.value(access_.builder().constant(static_cast<uint64_t>(label.value)), type);
  return std::nullopt;
}

Status Checker::sides(const Expression& e, Operand& a, Operand& b) {
  auto left = check(*e.operands[0]);
  if (left) {
    a = *std::move(left);
    if (const auto found = label(*e.operands[1], a)) {
      b = *found;
      return {};
    }
    TRY(b, check(*e.operands[1]));
    if (const auto found = label(*e.operands[0], b)) a = *found;
    return {};
  }
  if (e.operands[0]->kind != Kind::kName) return left.error();
  auto right = check(*e.operands[1]);
  const auto found = right ? label(*e.operands[0], *right) : std::nullopt;
  if (!found) return left.error();
  a = *found;
  b = *std::move(right);
  return {};
}

// What a call returned is taken as unsigned: it is never less than 0, and who writes -1 means something else.
Status Checker::check_sign(const Operand& a, const Operand& b) {
  if (a.kind != Operand::Kind::kValue || b.kind != Operand::Kind::kValue) return {};
  const auto value = access_.builder().constant_of(b.node);
  const Type& type = resolve(*b.type);
  if (!value || !type.is_signed || static_cast<int64_t>(*value) >= 0 || resolve(*a.type).is_signed) return {};
  const Op op = access_.builder().node(a.node).op;
  if (op == Op::kResult && resolve(*a.type).size == 8 && resolve(*a.type).kind == TypeKind::kInt)
    return refusal("ret is unsigned: say (int)ret or (long)ret");
  if (op == Op::kLatency || op == Op::kDepth || op == Op::kTail) return refusal("it is never negative");
  return {};
}

Result<Operand> Checker::binary(const Expression& e) {
  if (e.text == "&&" || e.text == "||") return logical(e);
  Operand a, b;
  TRY_OK(sides(e, a, b));
  if (is_text(a) || is_text(b)) {
    if (e.text != "==" && e.text != "!=") return refusal("texts can be compared with == and != only");
    const bool first = is_text(a);
    TRY(const uint32_t equal,
        compare_text(access_, first ? b : a, first ? a.text : b.text, false, type_finder()));
    Builder& builder = access_.builder();
    return truth_value(e.text == "==" ? equal : builder.add(Op::kLogicalNot, equal));
  }
  TRY_OK(check_sign(a, b));
  TRY_OK(check_sign(b, a));
  return arithmetic_.binary(e.text, a, b);
}

Result<Operand> Checker::logical(const Expression& e) {
  TRY(const uint32_t a, check_truth(*e.operands[0]));
  TRY(const uint32_t b, check_truth(*e.operands[1]));
  return truth_value(access_.builder().add(e.text == "&&" ? Op::kLogicalAnd : Op::kLogicalOr, a, b));
}

Result<Operand> Checker::cast(const Expression& e) {
  TRY(const Type* type, names_.type(e.type));
  TRY(const Operand a, check(*e.operands[0]));
  return arithmetic_.cast(a, *type);
}

}  // namespace blip::script
