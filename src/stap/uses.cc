// SPDX-License-Identifier: MIT
// Which globals are read and written: what is only written is printed at the end.
#include "stap/module.h"
#include "stap/walk.h"

namespace blip::stap {

namespace {

using Kind = Expression::Kind;

// `is_ignored`: nothing looks at its value.
void look(Expression& e, bool is_ignored) {
  const bool sets = e.kind == Kind::kAssign || e.kind == Kind::kIncrement;
  if (sets) {
    Expression& left = *e.operands[0];
    if (left.variable != nullptr) {
      left.variable->is_written = true;
      if (!is_ignored && e.text != "=") left.variable->is_read = true;
    }
    for_each_child(left, [](Expression& key) { look(key, false); });
    if (e.operands.size() > 1) look(*e.operands[1], false);
    return;
  }
  if (e.variable != nullptr) e.variable->is_read = true;
  for_each_child(e, [](Expression& child) { look(child, false); });
}

void look(Statement& s) {
  for_each_statement(s, [](Statement& one) {
    if (one.foreach != nullptr && one.foreach->variable != nullptr) one.foreach->variable->is_read = true;
    if (one.kind == Statement::Kind::kDelete) {
      if (one.value->variable != nullptr) one.value->variable->is_written = true;
      for_each_child(*one.value, [](Expression& key) { look(key, false); });
      return;
    }
    for_each_expression(one, [&](Expression& e) {
      const bool is_ignored =
          (one.kind == Statement::Kind::kExpression || one.kind == Statement::Kind::kFor) &&
          (&e == one.value.get() ? one.kind == Statement::Kind::kExpression : true);
      look(e, is_ignored);
    });
  });
}

}  // namespace

void find_uses(Module& module) {
  for (Handler& h : module.handlers) {
    if (h.condition != nullptr) look(*h.condition, false);
    for (const StatementPtr& body : h.bodies) look(*body);
  }
  for (File& file : module.files)
    for (const auto& f : file.functions)
      if (f->is_reached) look(*f->body);
}

}  // namespace blip::stap
