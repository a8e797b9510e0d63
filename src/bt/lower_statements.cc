// SPDX-License-Identifier: MIT
#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <set>

#include "bt/lower.h"

namespace blip::bt {

namespace {

using ExprKind = Expr::Kind;

void find_assigned(const Expr& e, std::set<std::string>& names);

void find_assigned(const Stmt& s, std::set<std::string>& names) {
  const bool is_set = s.kind == Stmt::Kind::kAssign || s.kind == Stmt::Kind::kDeclare ||
                      s.kind == Stmt::Kind::kForRange || s.kind == Stmt::Kind::kForMap;
  if (is_set && s.target && s.target->kind == ExprKind::kVariable) names.insert(s.target->text);
  for (const ExprPtr* part : {&s.target, &s.value, &s.end, &s.body})
    if (*part) find_assigned(**part, names);
}

// The variables that an expression, with what is in its blocks, sets.
void find_assigned(const Expr& e, std::set<std::string>& names) {
  const bool may_set = e.kind == ExprKind::kIncrement || e.kind == ExprKind::kCall;
  if (may_set)
    for (const ExprPtr& o : e.operands)
      if (o && o->kind == ExprKind::kVariable) names.insert(o->text);
  for (const ExprPtr& o : e.operands)
    if (o) find_assigned(*o, names);
  for (const StmtPtr& s : e.statements) find_assigned(*s, names);
}

constexpr uint64_t kMostUnrolled = 100;

}  // namespace

Lowerer::Variable* Lowerer::find_variable(const std::string& name) {
  for (size_t i = scopes_.size(); i-- > 0;)
    if (const auto found = scopes_[i].find(name); found != scopes_[i].end()) return &found->second;
  return nullptr;
}

Lowerer::Variable& Lowerer::new_variable(const std::string& name, const Type& type) {
  Variable& variable = scopes_.back()[name];
  variable = {.type = type};
  for (const state::ValueType leaf : leaves_of(type)) variable.locals.push_back(f_.add_local(leaf));
  return variable;
}

void Lowerer::set_variable(Variable& variable, const Typed& value) {
  for (size_t i = 0; i < variable.locals.size(); ++i) f_.set(variable.locals[i], value.leaves[i]);
}

Typed Lowerer::variable_value(const Variable& variable) {
  Typed result{.type = variable.type};
  for (const uint32_t local : variable.locals) result.leaves.push_back(f_.get(local));
  return result;
}

std::vector<uint32_t> Lowerer::assigned_in(const Expr& body) {
  std::set<std::string> names;
  find_assigned(body, names);
  std::vector<uint32_t> locals;
  for (const auto& scope : scopes_)
    for (const auto& [name, variable] : scope)
      if (names.contains(name)) locals.insert(locals.end(), variable.locals.begin(), variable.locals.end());
  return locals;
}

Status Lowerer::block(const Expr& e) {
  scopes_.emplace_back();
  for (const StmtPtr& s : e.statements) TRY_OK(statement(*s));
  if (!e.operands.empty()) TRY_OK(expression_statement(*e.operands[0]));
  scopes_.pop_back();
  return {};
}

Result<Typed> Lowerer::block_value(const Expr& e) {
  scopes_.emplace_back();
  for (const StmtPtr& s : e.statements) TRY_OK(statement(*s));
  Typed result;
  if (!e.operands.empty()) {
    TRY(result, value(*e.operands[0]));
  }
  scopes_.pop_back();
  return result;
}

Status Lowerer::statement(const Stmt& s) {
  if (!f_.is_open()) f_.begin(f_.new_block());  // behind a jump: nothing leads there
  switch (s.kind) {
    case Stmt::Kind::kExpression:
    case Stmt::Kind::kDiscard:
      return expression_statement(*s.value);
    case Stmt::Kind::kAssign:
      return assign(s);
    case Stmt::Kind::kDeclare:
      return declare(s);
    case Stmt::Kind::kWhile:
      return while_loop(s);
    case Stmt::Kind::kUnroll:
      return unroll(s);
    case Stmt::Kind::kForRange:
      return range_loop(s);
    case Stmt::Kind::kForMap:
      return map_loop(s);
    case Stmt::Kind::kBreak:
    case Stmt::Kind::kContinue:
    case Stmt::Kind::kReturn:
      return jump(s);
  }
  return {};
}

Status Lowerer::expression_statement(const Expr& e) {
  if (e.kind == ExprKind::kBlock) return block(e);
  if (e.kind == ExprKind::kIf) {
    TRY_OK(conditional_blocks(e, false));
    return {};
  }
  TRY_OK(value(e));
  return {};
}

// if and else: their value, if both have one, is in a local behind them.
Result<Typed> Lowerer::conditional_blocks(const Expr& e, bool has_value) {
  TRY(const Value test, truth(*e.operands[0]));
  const uint32_t yes = f_.new_block(), no = f_.new_block(), after = f_.new_block();
  const Expr* otherwise = e.operands.size() > 2 ? e.operands[2].get() : nullptr;
  f_.branch(test, yes, otherwise ? no : after);
  std::optional<Variable> result;
  const auto side = [&](const Expr& part) -> Status {
    if (!has_value) {
      TRY_OK(expression_statement(part));
    } else {
      TRY(Typed v, part.kind == ExprKind::kBlock ? block_value(part) : value(part));
      TRY(v, whole(part, std::move(v)));
      if (v.has_value()) {
        if (!result) {
          result.emplace();
          result->type = v.type;
          for (const state::ValueType leaf : leaves_of(v.type)) result->locals.push_back(f_.add_local(leaf));
        } else {
          const Type both = common_type(result->type, v.type);
          if (both.kind == Kind::kNothing)
            return at(part, fmt::format("both sides must have one type: here are {} and {}",
                                        to_string(result->type), to_string(v.type)));
          result->type = both;
        }
        set_variable(*result, v);
      }
    }
    if (f_.is_open()) f_.jump(after);
    return {};
  };
  f_.begin(yes);
  TRY_OK(side(*e.operands[1]));
  if (otherwise) {
    f_.begin(no);
    TRY_OK(side(*otherwise));
  }
  f_.begin(after);
  return result ? variable_value(*result) : nothing();
}

Status Lowerer::declare(const Stmt& s) {
  if (scopes_.back().contains(s.target->text))
    return at(s.target->range, fmt::format("${} is declared twice in this block", s.target->text));
  std::optional<Type> type;
  if (s.type) {
    TRY(type, type_of(*s.type));
  }
  if (!s.value) {
    // Without a type, its first value gives it one.
    Variable& variable = new_variable(s.target->text, type.value_or(of_kind(Kind::kUnknown)));
    variable.is_declared = type.has_value();
    Typed zero{.type = variable.type};
    for (const state::ValueType leaf : leaves_of(variable.type))
      zero.leaves.push_back(leaf == state::ValueType::kText ? f_.text("") : f_.constant(0));
    set_variable(variable, zero);
    return {};
  }
  TRY(Typed v, local_value(*s.value));
  if (type) {
    TRY(v, cast_to(*s.value, v, *type));
  }
  if (v.type.kind == Kind::kNothing) return at(*s.value, "this has no value");
  Variable& variable = new_variable(s.target->text, v.type);
  variable.is_declared = type.has_value();
  set_variable(variable, v);
  return {};
}

Status Lowerer::assign_variable(const Expr& target, Typed v) {
  if (v.type.kind == Kind::kNothing) return at(target, "there is no value for it");
  Variable* variable = find_variable(target.text);
  if (!variable) {
    set_variable(new_variable(target.text, v.type), v);
    return {};
  }
  if (variable->type.is_unknown() && count_leaves(v.type) > 0 && !v.type.is_unknown()) {
    // Declared without a type: what was set to 0 before is replaced.
    const auto leaves = leaves_of(v.type);
    if (leaves != leaves_of(variable->type)) {
      variable->locals.clear();
      for (const state::ValueType leaf : leaves) variable->locals.push_back(f_.add_local(leaf));
    }
    variable->type = v.type;
  }
  Type both = common_type(variable->type, v.type);
  if (both.kind == Kind::kNothing)
    return at(target, fmt::format("type mismatch for ${}: it has {}, and this is {}", target.text,
                                  to_string(variable->type), to_string(v.type)));
  if (variable->is_declared && both.kind == Kind::kInteger) both = variable->type;
  TRY(v, cast_to(target, v, both));
  variable->type = both;
  set_variable(*variable, v);
  return {};
}

Status Lowerer::assign(const Stmt& s) {
  if (s.target->kind != ExprKind::kVariable) return assign_map(*s.target, *s.value, s);
  if (s.sign == "=") {
    TRY(Typed v, local_value(*s.value));
    return assign_variable(*s.target, std::move(v));
  }
  TRY(Typed before, value(*s.target));
  if (has_effects(*s.value)) keep(before);
  TRY(const Typed by, value(*s.value));
  TRY(Typed v, compute(*s.target, std::string_view(s.sign).substr(0, s.sign.size() - 1), before, by));
  return assign_variable(*s.target, std::move(v));
}

Status Lowerer::body(const Expr& e) {
  TRY_OK(block(e));
  return {};
}

Status Lowerer::while_loop(const Stmt& s) {
  const uint32_t head = f_.new_block(), inside = f_.new_block(), after = f_.new_block();
  std::vector<uint32_t> assigned = assigned_in(*s.body), tested = assigned_in(*s.value);
  assigned.insert(assigned.end(), tested.begin(), tested.end());
  f_.begin_loop(head, assigned);
  TRY(const Value test, truth(*s.value));
  f_.branch(test, inside, after);
  f_.begin(inside);
  loops_.push_back({head, after});
  TRY_OK(body(*s.body));
  loops_.pop_back();
  if (f_.is_open()) f_.jump(head);
  f_.begin(after);
  return {};
}

Status Lowerer::unroll(const Stmt& s) {
  TRY(const Value count, number(*s.value));
  const auto n = f_.constant_of(count);
  if (!n || *n == 0 || *n > kMostUnrolled)
    return at(*s.value,
              fmt::format("unroll wants a number from 1 to {}, which does not change", kMostUnrolled));
  const uint32_t after = f_.new_block();
  for (uint64_t i = 0; i < *n; ++i) {
    const uint32_t next = f_.new_block();
    loops_.push_back({next, after});
    TRY_OK(body(*s.body));
    loops_.pop_back();
    f_.begin(next);
  }
  f_.begin(after);
  return {};
}

Status Lowerer::range_loop(const Stmt& s) {
  TRY(Value from, number(*s.value));
  from = f_.keep(from);
  TRY(Value to, number(*s.end));
  to = f_.keep(to);
  const uint32_t counter = f_.add_local(state::ValueType::kNumber);
  f_.set(counter, from);
  const uint32_t head = f_.new_block(), inside = f_.new_block(), next = f_.new_block(),
                 after = f_.new_block();
  std::vector<uint32_t> assigned = assigned_in(*s.body);
  assigned.push_back(counter);
  f_.begin_loop(head, assigned);
  f_.branch(f_.op(Op::kLess, f_.get(counter), to, true), inside, after);
  f_.begin(inside);
  scopes_.emplace_back();
  set_variable(new_variable(s.target->text, integer()), of_number(f_.get(counter)));
  loops_.push_back({next, after});
  TRY_OK(body(*s.body));
  loops_.pop_back();
  scopes_.pop_back();
  f_.begin(next);
  f_.set(counter, f_.op(Op::kAdd, f_.get(counter), f_.constant(1)));
  f_.jump(head);
  f_.begin(after);
  return {};
}

// for ($kv : @map): $kv is (key, value).
Status Lowerer::map_loop(const Stmt& s) {
  MapShape& over = map(*s.value);
  over.is_scalar = false;
  const Type key = over.key, element = over.value;
  if (element.kind == Kind::kHist || element.kind == Kind::kLhist || element.kind == Kind::kTseries ||
      element.kind == Kind::kStats)
    return at(*s.value, fmt::format("a loop over {} is not possible: its values are {}", over.name,
                                    to_string(element)));
  const uint32_t number = map_number(over), walk = f_.add_walk(number);
  f_.walk(walk, f_.constant(UINT64_MAX));
  const uint32_t head = f_.new_block(), inside = f_.new_block(), after = f_.new_block();
  f_.begin_loop(head, assigned_in(*s.body));
  f_.branch(f_.next(walk), inside, after);
  f_.begin(inside);
  scopes_.emplace_back();
  Typed pair{.type = of_kind(Kind::kTuple)};
  pair.type.fields = {{"0", key}, {"1", element}};
  for (uint32_t i = 0; i < count_leaves(key); ++i) pair.leaves.push_back(f_.walk_key(walk, i));
  const auto key_leaves = pair.leaves;
  if (element.is_several()) {
    const Typed v = from_packed(element, f_.walk_value(walk));
    pair.leaves.insert(pair.leaves.end(), v.leaves.begin(), v.leaves.end());
  } else if (program_.maps[number].value == state::ValueType::kStats || count_leaves(element) > 1) {
    // A key that is gone by now has no value.
    TRY(const Typed v, read_map(over, key_leaves, *s.value));
    pair.type.fields[1].type = v.type;
    pair.leaves.insert(pair.leaves.end(), v.leaves.begin(), v.leaves.end());
  } else {
    pair.leaves.push_back(f_.walk_value(walk));
    if (element.is_aggregate()) pair.type.fields[1].type = integer(8, element.is_signed);
  }
  set_variable(new_variable(s.target->text, pair.type), pair);
  loops_.push_back({head, after});
  TRY_OK(body(*s.body));
  loops_.pop_back();
  scopes_.pop_back();
  if (f_.is_open()) f_.jump(head);
  f_.begin(after);
  return {};
}

Status Lowerer::jump(const Stmt& s) {
  if (s.kind == Stmt::Kind::kReturn) {
    if (s.value) TRY_OK(expression_statement(*s.value));
    f_.jump(last_);
    return {};
  }
  const bool is_break = s.kind == Stmt::Kind::kBreak;
  if (loops_.empty()) return at(s.range, fmt::format("{} is only in loops", is_break ? "break" : "continue"));
  f_.jump(is_break ? loops_.back().after : loops_.back().next);
  return {};
}

}  // namespace blip::bt
