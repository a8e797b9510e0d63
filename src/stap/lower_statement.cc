// SPDX-License-Identifier: MIT
#include <fmt/core.h>

#include <set>

#include "stap/body.h"
#include "stap/walk.h"
#include "state/histogram.h"

namespace blip::stap {

using S = Statement::Kind;
using Kind = Expression::Kind;

Status Body::block(const std::vector<StatementPtr>& all) {
  for (const StatementPtr& s : all) TRY_OK(statement(*s));
  return {};
}

Status Body::statement(Statement& s) {
  if (!f_.is_open()) return {};  // behind a next, return or break
  switch (s.kind) {
    case S::kEmpty:
      return {};
    case S::kBlock:
      return block(s.body);
    case S::kExpression: {
      TRY(const Value ignored, value(*s.value));
      (void)ignored;
      return {};
    }
    case S::kIf:
      return conditional(s);
    case S::kFor:
      return loop(s);
    case S::kForeach:
      return foreach (s);
    case S::kDelete:
      return deletion(*s.value);
    case S::kTry:
      return attempt(s);
    default:
      return leave(s);
  }
}

// A side that is never taken is not made: it may name what is not defined here.
Status Body::conditional(Statement& s) {
  TRY(const Value test, value(*s.value));
  if (const auto known = f_.constant_of(test)) {
    if (*known != 0) return statement(*s.body[0]);
    return s.body.size() > 1 ? statement(*s.body[1]) : Status();
  }
  const uint32_t yes = f_.new_block(), no = f_.new_block();
  const uint32_t end = s.body.size() > 1 ? f_.new_block() : no;
  f_.branch(test, yes, no);
  f_.begin(yes);
  TRY_OK(statement(*s.body[0]));
  if (f_.is_open()) f_.jump(end);
  if (s.body.size() > 1) {
    f_.begin(no);
    TRY_OK(statement(*s.body[1]));
    if (f_.is_open()) f_.jump(end);
  }
  f_.begin(end);
  return {};
}

// The locals of this frame that the statement sets.
std::vector<uint32_t> Body::assigned_in(Statement& s) {
  std::set<uint32_t> result;
  const auto add = [&](const ExpressionPtr& e) {
    if (e != nullptr && e->variable != nullptr && !e->variable->is_global)
      result.insert(local_of(*e->variable));
  };
  for_each_statement(s, [&](Statement& one) {
    if (one.kind == S::kTry) add(one.init);
    if (one.kind == S::kDelete) add(one.value);
    if (one.foreach != nullptr) {
      for (const ExpressionPtr& key : one.foreach->keys) add(key);
      add(one.foreach->value);
    }
  });
  for_all_expressions(s, [&](Expression& e) {
    if (e.kind == Kind::kAssign || e.kind == Kind::kIncrement) add(e.operands[0]);
  });
  if (match_subject_) result.insert({*match_subject_, *match_pattern_});
  return {result.begin(), result.end()};
}

Status Body::loop(Statement& s) {
  if (s.init != nullptr) {
    TRY(const Value ignored, value(*s.init));
    (void)ignored;
  }
  const auto assigned = assigned_in(s);
  const uint32_t head = f_.new_block(), body = f_.new_block(), step = f_.new_block(), end = f_.new_block();
  f_.begin_loop(head, assigned);
  if (s.value != nullptr) {
    TRY(const Value test, value(*s.value));
    f_.branch(test, body, end);
  } else {
    f_.jump(body);
  }
  f_.begin(body);
  loops_.push_back({step, end});
  TRY_OK(statement(*s.body[0]));
  loops_.pop_back();
  if (f_.is_open()) f_.jump(step);
  f_.begin(step);
  if (s.step != nullptr) {
    TRY(const Value ignored, value(*s.step));
    (void)ignored;
  }
  f_.jump(head);
  f_.begin(end);
  return {};
}

static Result<state::Order> order_of(const Foreach& f) {
  state::Order order;
  if (f.direction == 0) return order;
  order.is_descending = f.direction < 0;
  if (f.column > 0) {
    order.by = state::Order::By::kKey;
    order.which = static_cast<uint8_t>(f.column - 1);
    return order;
  }
  order.by = f.variable->type == Type::kStats ? state::Order::By::kStatistic : state::Order::By::kValue;
  if (f.variable->type != Type::kStats) return order;
  constexpr std::string_view kNames[] = {"@count", "@sum", "@min", "@max", "@avg", "@variance"};
  for (uint8_t i = 0; i < std::size(kNames); ++i)
    if (f.statistic == kNames[i]) order.which = i;
  return order;
}

// Keys that the slice does not want are passed over.
Status Body::foreach_slice(const Foreach& f, uint32_t walk, const Values& wanted, uint32_t next) {
  for (size_t i = 0; i < f.slice.size(); ++i) {
    if (f.slice[i] == nullptr) continue;
    const Value key = f_.walk_key(walk, static_cast<uint32_t>(i));
    const Value test = key.is_text() ? f_.op(Op::kEqual, f_.apply("compare", {key, wanted[i]}), number(0))
                                     : f_.op(Op::kEqual, key, wanted[i]);
    const uint32_t same = f_.new_block();
    f_.branch(test, same, next);
    f_.begin(same);
  }
  return {};
}

Status Body::foreach (Statement& s) {
  Foreach& f = *s.foreach;
  if (f.histogram != nullptr) return foreach_bucket(s);
  TRY(const state::Order order, order_of(f));
  Value limit = number(INT64_MAX);
  if (f.limit != nullptr) {
    TRY(limit, value(*f.limit));
    limit = kept(f_.select(f_.op(Op::kLess, number(0), limit, true), limit, number(0)));
  }
  Values wanted;
  for (const ExpressionPtr& key : f.slice) {
    Value v = number(0);
    if (key != nullptr) {
      TRY(v, value(*key));
    }
    wanted.push_back(kept(v));
  }
  const bool counts = f.has_slice && f.limit != nullptr;
  const uint32_t count = counts ? f_.add_local(state::ValueType::kNumber) : 0;
  if (counts) f_.set(count, number(0));
  const uint32_t walk = f_.add_walk(maker_.map_of(*f.variable));
  f_.walk(walk, counts ? number(INT64_MAX) : limit, order);
  std::vector<uint32_t> assigned = assigned_in(s);
  if (counts) assigned.push_back(count);
  const uint32_t head = f_.new_block(), body = f_.new_block(), end = f_.new_block();
  f_.begin_loop(head, assigned);
  f_.branch(f_.next(walk), body, end);
  f_.begin(body);
  TRY_OK(foreach_slice(f, walk, wanted, head));
  if (counts) {
    const uint32_t more = f_.new_block();
    f_.branch(f_.op(Op::kLess, f_.get(count), limit, true), more, end);
    f_.begin(more);
    f_.set(count, f_.op(Op::kAdd, f_.get(count), number(1)));
  }
  for (size_t i = 0; i < f.keys.size(); ++i)
    set_variable(*f.keys[i]->variable, f_.walk_key(walk, static_cast<uint32_t>(i)));
  if (f.value != nullptr) set_variable(*f.value->variable, f_.walk_value(walk));
  loops_.push_back({head, end});
  TRY_OK(statement(*s.body[0]));
  loops_.pop_back();
  if (f_.is_open()) f_.jump(head);
  f_.begin(end);
  return {};
}

// Through all buckets, from the first on.
Status Body::foreach_bucket(Statement& s) {
  Foreach& f = *s.foreach;
  if (f.direction != 0) return error_at(f.array_spot, "a histogram is not sorted");
  const auto& map = maker_.program().maps[maker_.map_of(*f.histogram->operands[0]->variable)];
  Value most = f_.constant(state::count_buckets(map.histogram));
  if (f.limit != nullptr) {
    TRY(const Value limit, value(*f.limit));
    most = kept(f_.select(f_.op(Op::kLess, limit, most, true), limit, most));
  }
  const uint32_t index = f_.add_local(state::ValueType::kNumber);
  f_.set(index, number(0));
  std::vector<uint32_t> assigned = assigned_in(s);
  assigned.push_back(index);
  const uint32_t head = f_.new_block(), body = f_.new_block(), step = f_.new_block(), end = f_.new_block();
  f_.begin_loop(head, assigned);
  f_.branch(f_.op(Op::kLess, f_.get(index), most, true), body, end);
  f_.begin(body);
  set_variable(*f.keys[0]->variable, f_.get(index));
  if (f.value != nullptr) {
    TRY(const Value count, bucket(*f.histogram, f_.get(index)));
    set_variable(*f.value->variable, count);
  }
  loops_.push_back({step, end});
  TRY_OK(statement(*s.body[0]));
  loops_.pop_back();
  if (f_.is_open()) f_.jump(step);
  f_.begin(step);
  f_.set(index, f_.op(Op::kAdd, f_.get(index), number(1)));
  f_.jump(head);
  f_.begin(end);
  return {};
}

Status Body::attempt(Statement& s) {
  const uint32_t caught = f_.new_block(), end = f_.new_block();
  const uint32_t outer = failure_;
  failure_ = caught;
  f_.on_failure(caught);
  TRY_OK(statement(*s.body[0]));
  if (f_.is_open()) f_.jump(end);
  failure_ = outer;
  f_.on_failure(outer);
  f_.begin(caught);
  if (s.init != nullptr) set_variable(*s.init->variable, f_.failure());
  TRY_OK(statement(*s.body[1]));
  if (f_.is_open()) f_.jump(end);
  f_.begin(end);
  return {};
}

Status Body::leave(const Statement& s) {
  switch (s.kind) {
    case S::kBreak:
      f_.jump(loops_.back().end);
      return {};
    case S::kContinue:
      f_.jump(loops_.back().next);
      return {};
    case S::kNext:
      return frame().is_handler ? end_frame(std::nullopt) : hand_on();
    case S::kReturn: {
      if (s.value == nullptr) return end_frame(std::nullopt);
      TRY(const Value v, value(*s.value));
      return end_frame(v);
    }
    default:
      return error_at(s.spot, "blip runs no embedded C: a handler never changes the target");
  }
}

// The next function of the name has the arguments as they are now.
Status Body::hand_on() {
  Frame& f = frame();
  if (f.which + 1 >= f.overloads->size()) return end_frame(std::nullopt);
  const Function& here = *(*f.overloads)[f.which];
  Values arguments;
  for (const auto& parameter : here.parameters) arguments.push_back(f_.get(local_of(*parameter)));
  TRY(const uint32_t next, maker_.function(*f.overloads, f.which + 1));
  const Value v = f_.call(next, arguments);
  return end_frame((*f.overloads)[f.which + 1]->type == Type::kUnknown ? std::nullopt : std::optional(v));
}

Status Body::end_frame(std::optional<Value> result) {
  Frame& f = frame();
  if (f.end) {
    if (f.result && result) f_.set(*f.result, *result);
    f_.jump(*f.end);
    return {};
  }
  const Type type = (*f.overloads)[f.which]->type;
  if (type == Type::kUnknown)
    f_.return_nothing();
  else
    f_.return_value(result ? *result : nothing(type));
  return {};
}

Status Body::deletion(Expression& e) {
  const Variable& v = *e.variable;
  if (!v.is_global) {
    set_variable(v, nothing(v.type));
    return {};
  }
  const uint32_t map = maker_.map_of(v);
  if (e.kind == Kind::kName) {
    if (v.keys.empty())
      f_.erase(map, {});
    else
      f_.clear(map);
    return {};
  }
  TRY(const Values keys, keys_of(e));
  const bool is_slice =
      std::any_of(e.operands.begin(), e.operands.end(), [](const auto& key) { return key == nullptr; });
  if (!is_slice) {
    f_.erase(map, keys);
    return {};
  }
  Values wanted;
  for (const Value& key : keys) wanted.push_back(kept(key));
  const uint32_t walk = f_.add_walk(map), head = f_.new_block(), body = f_.new_block(), end = f_.new_block();
  f_.walk(walk, number(INT64_MAX));
  f_.begin_loop(head, {});
  f_.branch(f_.next(walk), body, end);
  f_.begin(body);
  Foreach slice;
  for (const ExpressionPtr& key : e.operands) slice.slice.push_back(key == nullptr ? nullptr : clone(*key));
  TRY_OK(foreach_slice(slice, walk, wanted, head));
  Values found;
  for (size_t i = 0; i < keys.size(); ++i) found.push_back(f_.walk_key(walk, static_cast<uint32_t>(i)));
  f_.erase(map, found);
  f_.jump(head);
  f_.begin(end);
  return {};
}

}  // namespace blip::stap
