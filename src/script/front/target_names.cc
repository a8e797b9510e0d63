// SPDX-License-Identifier: MIT
#include "script/front/target_names.h"

#include <fmt/core.h>

#include "machine/registers.h"
#include "script/elements.h"
#include "script/type_parser.h"
#include "script/types/builtin_types.h"
#include "script/types/diagnostics.h"

namespace blip::script {

namespace {

using Kind = Expression::Kind;

bool is_bytes(const Type* type) {
  return type && resolve(*type).size == 1 && resolve(*type).kind != TypeKind::kBool;
}

}  // namespace

TargetNames::TargetNames(Builder& pool, const HitScopes& scopes)
    : scopes_(scopes), pool_(pool), checker_({}, pool, types_, scopes_, &entries_) {}

std::unique_ptr<Expression> TargetNames::expression(Kind kind, std::string_view text) {
  auto e = std::make_unique<Expression>();
  e->kind = kind;
  e->text = text;
  return e;
}

std::unique_ptr<Expression> TargetNames::expression_of_given(uint64_t which) {
  auto e = expression(Kind::kGiven, {});
  e->number = which;
  return e;
}

// The checker places errors in its source, of which there is none: the caller knows where its words stand.
Result<Operand> TargetNames::look(const Expression& e, std::span<const Operand> given) {
  checker_.give(given);
  auto found = checker_.check(e);
  if (found || found.error().kind() != ErrorKind::kUsage) return found;
  const std::string& message = found.error().message();
  return refusal(message.substr(0, message.find('\n')));
}

Result<Operand> TargetNames::variable(std::string_view name, std::string_view where, bool at_entry) {
  auto e = expression(Kind::kName, name);
  e->where = where;
  if (!at_entry) return look(*e);
  auto call = expression(Kind::kCall, "entry");
  call->operands.push_back(std::move(e));
  return look(*call);
}

Result<Operand> TargetNames::reg(std::string_view name) { return look(*expression(Kind::kRegister, name)); }

// Marks count theirs from 1 on.
// By the convention, no debugging information is needed.
Result<Operand> TargetNames::argument(unsigned n) {
  const bool is_mark = !scopes_.scope->argument_names().empty();
  const auto registers = machine::host().convention.arguments;
  if (!is_mark && !scopes_.is_return && n < registers.size())
    return given(pool_.add({.op = Op::kRegister, .value = registers[n]}), *builtin_type("unsigned long"));
  return look(*expression(Kind::kRegister, fmt::format("arg{}", is_mark ? n + 1 : n)));
}

Result<Operand> TargetNames::returned() { return reg("return"); }
Result<Operand> TargetNames::return_word() { return reg("ret"); }

Result<Operand> TargetNames::member(const Operand& whole, std::string_view name) {
  auto e = expression(Kind::kMember, name);
  e->operands.push_back(expression_of_given(0));
  return look(*e, {&whole, 1});
}

Result<Operand> TargetNames::element(const Operand& array, const Operand& index) {
  const Operand both[] = {array, index};
  Expression e{.kind = Kind::kIndex};
  e.operands.push_back(expression_of_given(0));
  e.operands.push_back(expression_of_given(1));
  return look(e, both);
}

Result<Operand> TargetNames::dereference(const Operand& pointer) {
  auto e = expression(Kind::kUnary, "*");
  e->operands.push_back(expression_of_given(0));
  return look(*e, {&pointer, 1});
}

Result<Operand> TargetNames::address(const Operand& of) {
  auto e = expression(Kind::kUnary, "&");
  e->operands.push_back(expression_of_given(0));
  return look(*e, {&of, 1});
}

Result<Operand> TargetNames::cast(const Operand& operand, const TypeName& type) {
  TRY(const Type* found, checker_.names().type(type));
  return cast(operand, *found);
}

Result<Operand> TargetNames::cast(const Operand& operand, const Type& type) {
  return Arithmetic(checker_.access()).cast(operand, type);
}

Result<Operand> TargetNames::size(const Operand& operand) {
  auto e = expression(Kind::kCall, "sizeof");
  e->operands.push_back(expression_of_given(0));
  return look(*e, {&operand, 1});
}

Result<uint32_t> TargetNames::truth(const Operand& operand) {
  return Arithmetic(checker_.access()).truth(operand);
}

Result<TargetNames::Characters> TargetNames::characters(const Operand& operand) {
  Access& access = checker_.access();
  if (operand.kind == Operand::Kind::kOptimizedOut) return access.address(operand).error();
  const auto find_type = [this](std::string_view name) { return scopes_.scope->find_type(name); };
  const auto view = find_view(access, operand, find_type);
  if (view && is_bytes(view->element)) return Characters{.address = view->data, .length = view->length};
  const Type& type = resolve(*operand.type);
  if (type.kind == TypeKind::kArray && is_bytes(type.target)) {
    TRY(const uint32_t at, access.bits(operand));
    return Characters{.address = at, .most = type.count.value_or(0)};
  }
  const bool is_word = type.kind == TypeKind::kPointer || (type.kind == TypeKind::kInt && type.size == 8);
  if (!is_word) return not_this(operand, "is no address of a text");
  TRY(const uint32_t at, access.number(operand));
  return Characters{.address = at};
}

HitProgram TargetNames::kept() const {
  HitProgram kept{.code = entries_.builder.code()};
  for (const uint32_t node : entries_.nodes) kept.outputs.push_back({.node = node});
  return without_unused(kept);
}

std::optional<TypeName> type_name_of(std::string_view text) {
  auto tokens = TokenStream::open(text);
  if (!tokens) return std::nullopt;
  auto name = parse_type_name(*tokens);
  if (!name || tokens->peek().kind != TokenKind::kEnd) return std::nullopt;
  return *std::move(name);
}

}  // namespace blip::script
