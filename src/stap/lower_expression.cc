// SPDX-License-Identifier: MIT
#include <fmt/core.h>

#include <algorithm>

#include "stap/body.h"
#include "stap/tree_text.h"
#include "stap/walk.h"
#include "state/histogram.h"

namespace blip::stap {

using Kind = Expression::Kind;
using Value = script::Value;

Result<Value> Body::value(Expression& e) {
  switch (e.kind) {
    case Kind::kNumber:
      return f_.constant(e.number);
    case Kind::kText:
      return f_.text(std::string_view(e.text.c_str()).substr(0, maker_.limits().text));
    case Kind::kName:
      return name(e);
    case Kind::kElement:
      return e.base != nullptr ? bucket_element(e) : element(e);
    case Kind::kIn:
      return in(e);
    case Kind::kUnary:
      return unary(e);
    case Kind::kBinary:
      return binary(e);
    case Kind::kComparison:
      return comparison(e);
    case Kind::kAnd:
    case Kind::kOr:
      return logical(e);
    case Kind::kTernary:
      return ternary(e);
    case Kind::kAssign:
      return assignment(e);
    case Kind::kIncrement:
      return increment(e);
    case Kind::kConcat:
      return concat(e);
    case Kind::kMatch:
      return match(e);
    case Kind::kCall:
      return call(e);
    case Kind::kPrint:
      return print(e);
    case Kind::kStatistic:
      return statistic(e);
    case Kind::kTarget:
    case Kind::kCast:
    case Kind::kVar:
    case Kind::kAutocast:
    case Kind::kDeref:
      return target(e);
    case Kind::kDefined:
      return defined(e);
    case Kind::kEntry:
      return entry(e);
    default:
      return error_at(e.spot, fmt::format("{} is not supported yet", e.text));
  }
}

// From the left; those that what follows may leave behind in another block are kept.
Result<Body::Values> Body::values(const std::vector<ExpressionPtr>& all) {
  Values result;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i] == nullptr) {
      result.push_back(number(0));
      continue;
    }
    if (may_branch(*all[i]))
      for (Value& v : result) v = kept(v);
    TRY(const Value v, value(*all[i]));
    result.push_back(v);
  }
  return result;
}

Result<Value> Body::name(Expression& e) {
  if (e.variable->is_global) return f_.get(maker_.map_of(*e.variable), {});
  return f_.get(local_of(*e.variable));
}

Result<Body::Values> Body::keys_of(Expression& e) {
  return e.kind == Kind::kName ? Values() : values(e.operands);
}

Result<Value> Body::get(Expression& left, const Values& keys) {
  if (left.variable->is_global) return f_.get(maker_.map_of(*left.variable), keys);
  return f_.get(local_of(*left.variable));
}

Status Body::set(Expression& left, const Values& keys, const Value& v) {
  if (left.variable->is_global)
    f_.put(maker_.map_of(*left.variable), keys, v);
  else
    f_.set(local_of(*left.variable), v);
  return {};
}

void Body::set_variable(const Variable& v, const Value& to) {
  if (v.is_global)
    f_.put(maker_.map_of(v), {}, to);
  else
    f_.set(local_of(v), to);
}

Result<Value> Body::element(Expression& e) {
  TRY(const Values keys, keys_of(e));
  return f_.get(maker_.map_of(*e.variable), keys);
}

Result<Value> Body::in(Expression& e) {
  if (e.base != nullptr) {
    TRY(const Value which, value(*e.operands[0]));
    const auto& map = maker_.program().maps[maker_.map_of(*e.base->operands[0]->variable)];
    return f_.op(Op::kLess, which, f_.constant(state::count_buckets(map.histogram)));
  }
  if (std::any_of(e.operands.begin(), e.operands.end(), [](const auto& key) { return key == nullptr; }))
    return in_slice(e);
  TRY(const Values keys, values(e.operands));
  return f_.has(maker_.map_of(*e.variable), keys);
}

Result<Value> Body::in_slice(Expression& e) {
  TRY(Values wanted, values(e.operands));
  for (Value& v : wanted) v = kept(v);
  const uint32_t found = f_.add_local(state::ValueType::kNumber);
  f_.set(found, number(0));
  const uint32_t walk = f_.add_walk(maker_.map_of(*e.variable));
  const uint32_t head = f_.new_block(), body = f_.new_block(), end = f_.new_block();
  f_.walk(walk, number(INT64_MAX));
  const uint32_t assigned[] = {found};
  f_.begin_loop(head, assigned);
  f_.branch(f_.next(walk), body, end);
  f_.begin(body);
  Foreach slice;
  for (const ExpressionPtr& key : e.operands) slice.slice.push_back(key == nullptr ? nullptr : clone(*key));
  TRY_OK(foreach_slice(slice, walk, wanted, head));
  f_.set(found, number(1));
  f_.jump(end);
  f_.begin(end);
  return f_.get(found);
}

Result<Value> Body::unary(Expression& e) {
  TRY(const Value a, value(*e.operands[0]));
  if (e.text == "-") return f_.op(Op::kNeg, a);
  if (e.text == "!") return f_.op(Op::kLogicalNot, a);
  if (e.text == "~") return f_.op(Op::kNot, a);
  return a;
}

Value Body::arithmetic(std::string_view sign, const Value& a, const Value& b) {
  struct Row {
    std::string_view sign;
    Op op;
    bool is_signed;
  };
  static constexpr Row kRows[] = {
      {"+", Op::kAdd, false},  {"-", Op::kSub, false}, {"*", Op::kMul, false},   {"/", Op::kDiv, true},
      {"%", Op::kMod, true},   {"&", Op::kAnd, false}, {"|", Op::kOr, false},    {"^", Op::kXor, false},
      {"<<", Op::kShl, false}, {">>", Op::kShr, true}, {">>>", Op::kShr, false},
  };
  const auto* row =
      std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) { return r.sign == sign; });
  return f_.op(row->op, a, b, row->is_signed);
}

Result<Value> Body::binary(Expression& e) {
  TRY(Values v, values(e.operands));
  if (e.text == "/" || e.text == "%") check_divisor(v[0], v[1]);
  return arithmetic(e.text, v[0], v[1]);
}

// A division by 0 is an error even if nothing uses what comes out.
void Body::check_divisor(Value& a, Value& b) {
  const auto known = f_.constant_of(b);
  if (known && *known != 0) return;
  a = kept(a);
  b = kept(b);
  const uint32_t none = f_.new_block(), fine = f_.new_block();
  f_.branch(b, fine, none);
  f_.begin(none);
  f_.fail(f_.text("division by 0"));
  f_.begin(fine);
}

Result<Value> Body::comparison(Expression& e) {
  TRY(Values v, values(e.operands));
  if (e.operands[0]->type == Type::kString) {
    v[0] = f_.apply("compare", v);
    v[1] = number(0);
  }
  if (e.text == "==") return f_.op(Op::kEqual, v[0], v[1]);
  if (e.text == "!=") return f_.op(Op::kNotEqual, v[0], v[1]);
  if (e.text == "<") return f_.op(Op::kLess, v[0], v[1], true);
  if (e.text == "<=") return f_.op(Op::kLessEqual, v[0], v[1], true);
  if (e.text == ">") return f_.op(Op::kLess, v[1], v[0], true);
  return f_.op(Op::kLessEqual, v[1], v[0], true);
}

Result<Value> Body::logical(Expression& e) {
  const bool is_and = e.kind == Kind::kAnd;
  TRY(const Value a, value(*e.operands[0]));
  if (const auto known = f_.constant_of(a)) {
    if ((*known != 0) != is_and) return number(is_and ? 0 : 1);
    TRY(const Value b, value(*e.operands[1]));
    return f_.op(Op::kNotEqual, b, number(0));
  }
  if (is_plain(*e.operands[1])) {
    TRY(const Value b, value(*e.operands[1]));
    return f_.op(is_and ? Op::kLogicalAnd : Op::kLogicalOr, a, b);
  }
  const uint32_t result = f_.add_local(state::ValueType::kNumber);
  const uint32_t more = f_.new_block(), end = f_.new_block();
  f_.set(result, number(is_and ? 0 : 1));
  f_.branch(a, is_and ? more : end, is_and ? end : more);
  f_.begin(more);
  TRY(const Value b, value(*e.operands[1]));
  f_.set(result, f_.op(Op::kNotEqual, b, number(0)));
  f_.begin(end);
  return f_.get(result);
}

Result<Value> Body::ternary(Expression& e) {
  TRY(const Value test, value(*e.operands[0]));
  if (const auto known = f_.constant_of(test)) return value(*e.operands[*known != 0 ? 1 : 2]);
  if (is_plain(*e.operands[1]) && is_plain(*e.operands[2])) {
    TRY(const Value yes, value(*e.operands[1]));
    TRY(const Value no, value(*e.operands[2]));
    return f_.select(test, yes, no);
  }
  const uint32_t result = f_.add_local(value_type(e.type));
  const uint32_t yes = f_.new_block(), no = f_.new_block(), end = f_.new_block();
  f_.branch(test, yes, no);
  f_.begin(yes);
  TRY(const Value a, value(*e.operands[1]));
  f_.set(result, a);
  f_.jump(end);
  f_.begin(no);
  TRY(const Value b, value(*e.operands[2]));
  f_.set(result, b);
  f_.begin(end);
  return f_.get(result);
}

Result<Value> Body::assignment(Expression& e) {
  Expression &left = *e.operands[0], &right = *e.operands[1];
  TRY(Values keys, keys_of(left));
  if (may_branch(right))
    for (Value& key : keys) key = kept(key);
  if (e.text == "<<<") {
    TRY(const Value v, value(right));
    f_.tally(maker_.map_of(*left.variable), keys, v);
    return v;
  }
  const std::string_view sign = std::string_view(e.text).substr(0, e.text.size() - 1);
  if (sign == "+" && left.variable->is_global) {
    TRY(const Value v, value(right));
    return f_.add_to(maker_.map_of(*left.variable), keys, v);
  }
  if (sign.empty()) {
    TRY(const Value v, value(right));
    if (!left.variable->is_global) frame().types.erase(left.variable);
    // What a local points to, so that its members can be named.
    if (right.type == Type::kLong && !left.variable->is_global && names_ != nullptr &&
        (right.kind == Kind::kTarget || right.kind == Kind::kCast || right.kind == Kind::kVar ||
         right.kind == Kind::kAutocast)) {
      if (const auto of = operand(right); of && !right.is_address) frame().types[left.variable] = of->type;
    }
    TRY_OK(set(left, keys, v));
    return v;
  }
  TRY(Value old, get(left, keys));
  if (may_branch(right)) old = kept(old);
  TRY(const Value by, value(right));
  Value divisor = by;
  if (sign == "/" || sign == "%") check_divisor(old, divisor);
  const Value v = sign == "." ? f_.apply("concat", {old, by}) : arithmetic(sign, old, divisor);
  TRY_OK(set(left, keys, v));
  return v;
}

Result<Value> Body::increment(Expression& e) {
  Expression& left = *e.operands[0];
  TRY(const Values keys, keys_of(left));
  const Value by = number(e.text == "++" ? 1 : -1);
  if (left.variable->is_global) {
    const Value now = f_.add_to(maker_.map_of(*left.variable), keys, by);
    return e.is_prefix ? now : f_.op(Op::kSub, now, by);
  }
  TRY(const Value old, get(left, keys));
  const Value now = f_.op(Op::kAdd, old, by);
  TRY_OK(set(left, keys, now));
  return e.is_prefix ? now : old;
}

Result<Value> Body::concat(Expression& e) {
  TRY(const Values v, values(e.operands));
  return f_.apply("concat", v);
}

// matched() looks at the last one that was tried.
Result<Value> Body::match(Expression& e) {
  TRY(const Values v, values(e.operands));
  if (!match_subject_) {
    match_subject_ = f_.add_local(state::ValueType::kText);
    match_pattern_ = f_.add_local(state::ValueType::kText);
  }
  const Value found = f_.apply("regex_matches", {v[0], v[1]});
  f_.set(*match_subject_, v[0]);
  f_.set(*match_pattern_, v[1]);
  return e.text == "=~" ? found : f_.op(Op::kLogicalNot, found);
}

Result<Value> Body::statistic(Expression& e) {
  struct Row {
    std::string_view name;
    state::Statistic what;
  };
  using state::Statistic;
  static constexpr Row kRows[] = {{"@count", Statistic::kCount}, {"@sum", Statistic::kSum},
                                  {"@min", Statistic::kMin},     {"@max", Statistic::kMax},
                                  {"@avg", Statistic::kAverage}, {"@variance", Statistic::kVariance}};
  const auto* row =
      std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) { return r.name == e.text; });
  Expression& of = *e.operands[0];
  TRY(const Values keys, keys_of(of));
  return f_.statistic(maker_.map_of(*of.variable), keys, row->what);
}

// One of the numbers that make up a histogram.
Result<Value> Body::bucket(Expression& histogram, const Value& which) {
  Expression& of = *histogram.operands[0];
  const Value index = kept(which);
  TRY(Values arguments, keys_of(of));
  arguments.push_back(index);
  const std::string format =
      fmt::format("{}{}{}", kSpecial, static_cast<char>(Special::kBucket), maker_.map_of(*of.variable));
  return f_.apply("parse_number", {f_.sprint(f_.format(format, arguments), arguments), number(10)});
}

Result<Value> Body::bucket_element(Expression& e) {
  TRY(const Value which, value(*e.operands[0]));
  return bucket(*e.base, which);
}

Result<Value> Body::defined(Expression& e) {
  Expression& of = *e.operands[0];
  if (of.kind == Kind::kPerf || of.kind == Kind::kProbeWrite) return number(0);
  if (names_ == nullptr) return number(0);
  return number(target(of) ? 1 : 0);
}

// At the return: as it was when the call began.
Result<Value> Body::entry(Expression& e) {
  Expression& of = *e.operands[0];
  Error why(ErrorKind::kUsage, "");
  bool is_wrong = false;
  for_all_expressions(of, [&](Expression& one) {
    const bool sets = one.kind == Kind::kAssign || one.kind == Kind::kIncrement || one.kind == Kind::kPrint;
    const bool is_variable = one.variable != nullptr;
    if (!sets && !is_variable) return;
    if (!is_wrong)
      why =
          error_at(one.spot, "@entry() takes what the target has, and the time: no variables of the script");
    is_wrong = true;
  });
  if (is_wrong) return why;
  is_entry_ = true;
  auto result = value(of);
  is_entry_ = false;
  return result;
}

}  // namespace blip::stap
