// SPDX-License-Identifier: MIT
#include "bt/tree.h"

namespace blip::bt {

namespace {

std::unique_ptr<TypeName> copy_type(const std::unique_ptr<TypeName>& type) {
  if (!type) return nullptr;
  auto result = std::make_unique<TypeName>();
  result->name = type->name;
  result->suffixes = type->suffixes;
  result->sizes = type->sizes;
  result->range = type->range;
  if (type->of) result->of = copy(*type->of);
  return result;
}

ExprPtr copy_of(const ExprPtr& e) { return e ? copy(*e) : nullptr; }

}  // namespace

ExprPtr copy(const Expr& e) {
  auto result = std::make_unique<Expr>();
  result->kind = e.kind;
  result->range = e.range;
  result->text = e.text;
  result->sign = e.sign;
  result->number = e.number;
  result->is_prefix = e.is_prefix;
  result->is_negative = e.is_negative;
  result->type = copy_type(e.type);
  result->names = e.names;
  for (const ExprPtr& o : e.operands) result->operands.push_back(copy_of(o));
  for (const StmtPtr& s : e.statements) result->statements.push_back(copy(*s));
  result->expanded_from = e.expanded_from;
  return result;
}

StmtPtr copy(const Stmt& s) {
  auto result = std::make_unique<Stmt>();
  result->kind = s.kind;
  result->range = s.range;
  result->sign = s.sign;
  result->target = copy_of(s.target);
  result->value = copy_of(s.value);
  result->end = copy_of(s.end);
  result->body = copy_of(s.body);
  result->type = copy_type(s.type);
  return result;
}

}  // namespace blip::bt
