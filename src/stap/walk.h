// SPDX-License-Identifier: MIT
// Visits what a tree holds directly.
#pragma once

#include "stap/tree.h"

namespace blip::stap {

template <typename Visit>
void for_each_child(Expression& e, const Visit& visit) {
  for (const ExpressionPtr& operand : e.operands)
    if (operand != nullptr) visit(*operand);
  if (e.base != nullptr) visit(*e.base);
  for (const Component& c : e.components)
    if (c.index != nullptr) visit(*c.index);
}

template <typename Visit>
void for_each_expression(Statement& s, const Visit& visit) {
  for (const ExpressionPtr* e : {&s.value, &s.init, &s.step})
    if (*e != nullptr) visit(**e);
  if (s.foreach == nullptr) return;
  Foreach& f = *s.foreach;
  for (const ExpressionPtr& key : f.keys) visit(*key);
  for (const ExpressionPtr* e : {&f.value, &f.histogram, &f.limit})
    if (*e != nullptr) visit(**e);
  for (const ExpressionPtr& key : f.slice)
    if (key != nullptr) visit(*key);
}

// Of a statement and all in it; children come after what they are in.
template <typename Visit>
void for_each_statement(Statement& s, const Visit& visit) {
  visit(s);
  for (const StatementPtr& child : s.body) for_each_statement(*child, visit);
}

template <typename Visit>
void for_all_expressions(Expression& e, const Visit& visit) {
  visit(e);
  for_each_child(e, [&](Expression& child) { for_all_expressions(child, visit); });
}

template <typename Visit>
void for_all_expressions(Statement& s, const Visit& visit) {
  for_each_statement(s, [&](Statement& one) {
    for_each_expression(one, [&](Expression& e) { for_all_expressions(e, visit); });
  });
}

}  // namespace blip::stap
