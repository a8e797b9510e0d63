// SPDX-License-Identifier: MIT
// An array that a foreach goes through is not changed meanwhile, by its body or by what that calls.
#include <fmt/core.h>

#include <set>

#include "stap/module.h"
#include "stap/walk.h"

namespace blip::stap {

namespace {

using Kind = Expression::Kind;
using Variables = std::set<const Variable*>;

class LoopCheck {
 public:
  explicit LoopCheck(Module& module) : module_(module) {}

  Status run() {
    for (Handler& h : module_.handlers)
      for (const StatementPtr& body : h.bodies) TRY_OK(check(*body));
    for (File& file : module_.files)
      for (const auto& f : file.functions)
        if (f->is_reached) TRY_OK(check(*f->body));
    return {};
  }

 private:
  Status check(Statement& s) {
    if (s.kind == Statement::Kind::kForeach && s.foreach->variable != nullptr) {
      Variables changed;
      std::set<const Function*> seen;
      for_each_statement(*s.body[0], [&](Statement& one) { collect(one, changed, seen); });
      if (changed.contains(s.foreach->variable))
        return error_at(s.foreach->array_spot,
                        fmt::format("{} is changed while 'foreach' goes through it", s.foreach->array));
    }
    for (const StatementPtr& child : s.body) TRY_OK(check(*child));
    return {};
  }

  void collect(Statement& s, Variables& changed, std::set<const Function*>& seen) {
    if (s.kind == Statement::Kind::kDelete && s.value->variable != nullptr) changed.insert(s.value->variable);
    for_each_expression(s, [&](Expression& top) {
      for_all_expressions(top, [&](Expression& e) {
        if ((e.kind == Kind::kAssign || e.kind == Kind::kIncrement) && e.operands[0]->variable != nullptr)
          changed.insert(e.operands[0]->variable);
        for (Function* f : e.functions) {
          if (f->body == nullptr || !seen.insert(f).second) continue;
          for_each_statement(*f->body, [&](Statement& one) { collect(one, changed, seen); });
        }
      });
    });
  }

  Module& module_;
};

}  // namespace

Status check_loops(Module& module) { return LoopCheck(module).run(); }

}  // namespace blip::stap
