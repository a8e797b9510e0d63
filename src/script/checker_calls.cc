// SPDX-License-Identifier: MIT
// Checks what looks like a call of a function: sizeof(x), entry(x), startswith(p, "text"), reg("rax").
#include <fmt/core.h>

#include "script/checker.h"
#include "script/text_comparison.h"
#include "script/types/diagnostics.h"
#include "script/types/members.h"

namespace blip::script {

namespace {

using Kind = Expression::Kind;

}  // namespace

Result<Operand> Checker::size_of(const Type& type) {
  const Type& resolved = resolve(type);
  const uint64_t size = resolved.kind == TypeKind::kPointer ? 8 : resolved.size;
  if (resolved.length && resolved.target && resolve(*resolved.target).size) {
    Builder& b = access_.builder();
    const uint32_t element = b.constant(resolve(*resolved.target).size);
    return access_.value(b.add(Op::kMul, b.append(*resolved.length), element), int_type(8, false));
  }
  if (size == 0) return refusal(fmt::format("the size of {} is not known", to_string(type)));
  return access_.value(access_.builder().constant(size), int_type(8, false));
}

Result<Operand> Checker::call(const Expression& e) {
  const auto wants = [&](size_t n) { return e.operands.size() == n; };
  if (e.text == "entry") return wants(1) ? entry(e) : refusal("entry(x) wants one expression");
  if (e.text == "startswith") return wants(2) ? starts_with(e) : refusal("it is startswith(p, \"text\")");
  if (e.text == "reg") {
    if (!wants(1) || e.operands[0]->kind != Kind::kText) return refusal("it is reg(\"rax\")");
    return names_.reg(e.operands[0]->text);
  }
  if (e.text == "sizeof") {
    if (!wants(1)) return refusal("sizeof(x) wants one expression");
    TRY(const Operand a, check(*e.operands[0]));
    if (is_text(a) || a.kind == Operand::Kind::kSlice) return not_this(a, "has no fixed size");
    return size_of(*a.type);
  }
  return refusal(
      fmt::format("there is no function '{}': there are entry, startswith, reg and sizeof", e.text));
}

Result<Operand> Checker::method(const Expression& e) {
  TRY(Operand whole, check(*e.operands[0]));
  const bool is_known = whole.kind != Operand::Kind::kText && whole.kind != Operand::Kind::kOptimizedOut;
  if (is_known && whole.kind != Operand::Kind::kSlice) {
    const auto owned = find_owned(access_, whole);
    if (owned && e.text == "get" && e.number == 0) return *owned;
    if (e.number != 0) {
      TRY(whole, access_.dereference(owned ? *owned : whole));
    } else if (resolve(*whole.type).kind == TypeKind::kPointer) {
      TRY(whole, access_.dereference(whole));
    }
  }
  Builder& b = access_.builder();
  const auto size = is_known ? find_size(access_, whole, type_finder()) : std::nullopt;
  if (size && (e.text == "size" || e.text == "length" || e.text == "len"))
    return access_.value(*size, int_type(8, false));
  if (size && (e.text == "empty" || e.text == "is_empty"))
    return truth_value(b.add(Op::kEqual, *size, b.constant(0)));
  if (e.text == "data" || e.text == "c_str")
    if (const auto view = is_known ? find_view(access_, whole, type_finder()) : std::nullopt)
      return access_.value(view->data, types_.pointer_to(*view->element));
  if (const auto optional = is_known ? find_optional(access_, whole) : std::nullopt) {
    if (e.text == "has_value") return optional->has_value;
    if (e.text == "value") return value_of(*optional);
  }
  return refusal(
      fmt::format("{}() cannot be called: of containers there are size(), empty(), data(), of std::optional "
                  "has_value() and value(), of smart pointers get()",
                  e.text));
}

Result<Operand> Checker::starts_with(const Expression& e) {
  TRY(const Operand a, check(*e.operands[0]));
  TRY(const Operand text, check(*e.operands[1]));
  if (!is_text(text) || is_text(a)) return refusal("it is startswith(p, \"text\")");
  TRY(const uint32_t node, compare_text(access_, a, text.text, true, type_finder()));
  return truth_value(node);
}

// Computed where the call begins, by what names mean there.
Result<Operand> Checker::entry(const Expression& e) {
  if (!site_.is_return) return refusal("entry(x) is known only where a function returns: with --return");
  if (!site_.entry || !entries_) return refusal("entry(x) cannot be had here");
  const HitScopes there{.scope = site_.entry};
  Checker checker(source_, entries_->builder, types_, there, nullptr);
  TRY(const Operand a, checker.check(*e.operands[0]));
  return keep_operand(*entries_, checker.access(), a, access_);
}

}  // namespace blip::script
