// SPDX-License-Identifier: MIT
#include <fmt/core.h>

#include <algorithm>

#include "bt/lower.h"

namespace blip::bt {

namespace {

using ExprKind = Expr::Kind;
using state::Statistic;
using state::ValueType;

state::MapType map_type(const MapShape& shape, const Config& config) {
  using Kind = Type::Kind;
  state::MapType type{.name = shape.name, .when_full = state::WhenFull::kDrop};
  if (!shape.is_scalar) type.key = leaves_of(shape.key);
  type.limit = shape.is_scalar ? 1 : shape.limit ? shape.limit : config.max_map_keys;
  switch (shape.value.kind) {
    case Kind::kMin:
    case Kind::kMax:
    case Kind::kAverage:
    case Kind::kStats:
    case Kind::kHist:
    case Kind::kLhist:
    case Kind::kTseries:
      type.value = ValueType::kStats;
      break;
    default:
      type.value = shape.value.is_several() || count_leaves(shape.value) > 1 ||
                           leaves_of(shape.value)[0] == ValueType::kText
                       ? ValueType::kText
                       : ValueType::kNumber;
  }
  type.is_unsigned = !shape.value.is_signed;
  if (shape.value.kind == Kind::kHist)
    type.histogram = {.kind = state::Histogram::Kind::kHist, .bits = shape.bits};
  if (shape.value.kind == Kind::kLhist)
    type.histogram = {
        .kind = state::Histogram::Kind::kLhist, .low = shape.low, .high = shape.high, .step = shape.step};
  if (shape.value.kind == Kind::kTseries) {
    type.key.push_back(ValueType::kNumber);  // which interval
    type.limit = static_cast<uint32_t>(std::min<uint64_t>(state::kMaxEntries, type.limit * shape.intervals));
    type.when_full = state::WhenFull::kReplaceOldest;
  }
  return type;
}

Type::Kind aggregate_kind(std::string_view name) {
  using Kind = Type::Kind;
  constexpr std::pair<std::string_view, Kind> kAll[] = {
      {"count", Kind::kCount}, {"sum", Kind::kSum},     {"min", Kind::kMin},
      {"max", Kind::kMax},     {"avg", Kind::kAverage}, {"stats", Kind::kStats},
      {"hist", Kind::kHist},   {"lhist", Kind::kLhist}, {"tseries", Kind::kTseries}};
  for (const auto& [known, kind] : kAll)
    if (known == name) return kind;
  return Kind::kNothing;
}

}  // namespace

MapShape& Lowerer::map(const Expr& e) {
  MapShape& shape = script_.map(e.text);
  if (!shape.is_used) shape.range = e.range;
  shape.is_used = true;
  return shape;
}

// Its place in the program, which has it from its first use on.
uint32_t Lowerer::map_number(MapShape& shape) {
  const auto found = std::find_if(program_.maps.begin(), program_.maps.end(),
                                  [&](const state::MapType& m) { return m.name == shape.name; });
  if (found != program_.maps.end()) return static_cast<uint32_t>(found - program_.maps.begin());
  if (!finds_types_ && shape.value.is_unknown()) shape.value = integer();
  if (!finds_types_ && !shape.is_scalar && shape.key.is_unknown()) shape.key = integer();
  program_.maps.push_back(map_type(shape, script_.config));
  return static_cast<uint32_t>(program_.maps.size() - 1);
}

Result<std::vector<script::Value>> Lowerer::key_of(const Expr& e, MapShape& shape) {
  if (e.kind == ExprKind::kMap) {
    if (!shape.is_scalar) return at(e, fmt::format("{} has keys: {}[...]", shape.name, shape.name));
    return std::vector<Value>();
  }
  TRY(const Typed key, whole_value(*e.operands[0]));
  return key_from(e, shape, key);
}

Result<std::vector<script::Value>> Lowerer::key_from(const Expr& e, MapShape& shape, const Typed& key) {
  Type type = key.type;
  if (type.kind == Kind::kInteger) type = integer(8, type.is_signed);
  if (shape.is_scalar && shape.key.is_unknown() && !shape.value.is_unknown())
    return at(e, fmt::format("{} has no keys: it was used as one value before", shape.name));
  shape.is_scalar = false;
  const Type both = shape.key.kind == Kind::kUnknown ? type : common_type(shape.key, type);
  if (both.kind == Kind::kNothing)
    return at(e, fmt::format("the keys of {} are {}, and this one is {}", shape.name, to_string(shape.key),
                             to_string(type)));
  shape.key = both;
  if (both.is_unknown()) shape.key = of_kind(Kind::kUnknown);
  if (count_leaves(both) > state::kMaxKey)
    return at(e, fmt::format("a key has at most {} parts", state::kMaxKey));
  TRY(const Typed fitting, cast_to(e, key, both));
  return fitting.leaves;
}

Status Lowerer::set_value_type(MapShape& shape, const Type& wanted, const Expr& e) {
  Type type = wanted;
  if (type.kind == Kind::kInteger) {
    type.size = 8;
    if (type.is_flexible && shape.value.kind == Kind::kInteger) type.is_signed = shape.value.is_signed;
    type.is_flexible = false;
  }
  const Type both = shape.value.is_unknown() ? type : common_type(shape.value, type);
  if (both.kind == Kind::kNothing)
    return at(e, fmt::format("type mismatch for {}: its values are {}, and this is {}", shape.name,
                             to_string(shape.value), to_string(type)));
  shape.value = both;
  return {};
}

script::Value Lowerer::packed(const Typed& value) {
  Shape shape{.kind = Shape::Kind::kPack};
  shape.arguments.push_back(value.type);
  return sprint(std::move(shape), value.leaves);
}

Typed Lowerer::from_packed(const Type& type, const Value& text) {
  Typed result{.type = type};
  const auto leaves = leaves_of(type);
  for (size_t i = 0; i < leaves.size(); ++i) {
    Shape shape{.kind = Shape::Kind::kItem, .text = fmt::format("{}", i)};
    shape.arguments.push_back(type);
    const Value item = sprint(std::move(shape), {text});
    result.leaves.push_back(
        leaves[i] == ValueType::kText ? item : f_.apply("parse_number", {item, f_.constant(10)}));
  }
  return result;
}

Status Lowerer::put(MapShape& shape, const std::vector<Value>& key, const Typed& v, const Expr& e) {
  TRY_OK(set_value_type(shape, v.type, e));
  TRY(const Typed fitting, cast_to(e, v, shape.value));
  const uint32_t number = map_number(shape);
  const bool is_packed = shape.value.is_several() || count_leaves(shape.value) > 1;
  f_.put(number, key, is_packed ? packed(fitting) : fitting.value());
  return {};
}

Status Lowerer::assign_map(const Expr& target, const Expr& e, const Stmt& s) {
  if (s.sign == "=") {
    TRY(const bool is_done, aggregate(target, e));
    if (is_done) return {};
    TRY(Typed v, whole_value(e));
    if (target.kind == ExprKind::kElement && has_effects(*target.operands[0])) keep(v);
    MapShape& shape = map(target);
    TRY(const std::vector<Value> key, key_of(target, shape));
    return put(shape, key, v, e);
  }
  const std::string sign = s.sign.substr(0, s.sign.size() - 1);
  TRY(Typed by, value(e));
  if (target.kind == ExprKind::kElement && has_effects(*target.operands[0])) keep(by);
  MapShape& shape = map(target);
  TRY(const std::vector<Value> key, key_of(target, shape));
  const bool is_pointer = shape.value.kind == Kind::kPointer;
  if ((sign == "+" || sign == "-") && by.type.is_number() && !is_pointer) {
    TRY_OK(set_value_type(shape, integer(8, by.type.is_signed), target));
    f_.add_to(map_number(shape), key, sign == "+" ? by.value() : f_.op(Op::kNeg, by.value()));
    return {};
  }
  TRY(const Typed before, read_map(shape, key, target));
  TRY(const Typed after, compute(target, sign, before, by));
  return put(shape, key, after, target);
}

// @x = count(), and so on: false if it is none of these.
Result<bool> Lowerer::aggregate(const Expr& target, const Expr& e) {
  const Kind kind =
      e.kind == ExprKind::kCall || e.kind == ExprKind::kName ? aggregate_kind(e.text) : Kind::kNothing;
  if (kind == Kind::kNothing || (e.kind == ExprKind::kName && e.text != "count")) return false;
  const size_t n = e.operands.size();
  const size_t least = kind == Kind::kCount ? 0 : kind == Kind::kLhist ? 4 : kind == Kind::kTseries ? 3 : 1;
  const size_t most = kind == Kind::kHist ? 2 : kind == Kind::kTseries ? 4 : least;
  if (n < least || n > most) TRY_OK(wants(e, least, most));
  Typed v = of_number(f_.constant(1));
  if (kind != Kind::kCount) {
    TRY(v, value(*e.operands[0]));
    if (!v.has_value() || !v.type.is_number())
      return at(*e.operands[0],
                fmt::format("{}() wants a number, and this is {}", e.text, to_string(v.type)));
    if (target.kind == ExprKind::kElement && has_effects(*target.operands[0])) keep(v);
  }
  std::vector<int64_t> numbers;
  for (size_t i = 1; i < std::min<size_t>(n, 4); ++i) {
    if (kind == Kind::kTseries && i == 3) break;
    TRY(const Value literal, number(*e.operands[i]));
    const auto constant = f_.constant_of(literal);
    if (!constant) return at(*e.operands[i], "this must be a number that does not change");
    numbers.push_back(static_cast<int64_t>(*constant));
  }
  MapShape& shape = map(target);
  TRY(std::vector<Value> key, key_of(target, shape));
  Type type = of_kind(kind);
  type.is_signed = kind != Kind::kCount && (v.type.is_signed || v.type.kind != Kind::kInteger);
  TRY_OK(set_value_type(shape, type, e));
  if (kind == Kind::kHist) {
    const int64_t bits = numbers.empty() ? 0 : numbers[0];
    if (bits < 0 || bits > state::kMaxHistogramBits)
      return at(*e.operands[1], fmt::format("the number of bits is from 0 to {}", state::kMaxHistogramBits));
    if (shape.bits != 0 && shape.bits != static_cast<uint32_t>(bits))
      return at(e, fmt::format("{} has another number of bits elsewhere", shape.name));
    shape.bits = static_cast<uint32_t>(bits);
  }
  if (kind == Kind::kLhist) {
    if (numbers[0] >= numbers[1])
      return at(e, "lhist() wants (number, low, high, step), and low is below high");
    if (numbers[2] <= 0 || (numbers[1] - numbers[0]) / numbers[2] > state::kMaxLinear)
      return at(*e.operands[3], fmt::format("lhist() has from 1 to {} steps", state::kMaxLinear));
    shape.low = numbers[0];
    shape.high = numbers[1];
    shape.step = numbers[2];
  }
  if (kind == Kind::kTseries) {
    if (numbers[0] <= 0 || numbers[1] <= 0 || numbers[1] > 1'000'000)
      return at(e, "tseries() wants (number, interval, how many intervals)");
    shape.interval = static_cast<uint64_t>(numbers[0]);
    shape.intervals = static_cast<uint64_t>(numbers[1]);
    if (n == 4) {
      if (e.operands[3]->kind != ExprKind::kText)
        return at(*e.operands[3], "this is avg, max, min or sum, in quotes");
      shape.fold = e.operands[3]->text;
      if (shape.fold != "avg" && shape.fold != "max" && shape.fold != "min" && shape.fold != "sum")
        return at(*e.operands[3], "this is avg, max, min or sum, in quotes");
    }
  }
  const uint32_t number = map_number(shape);
  if (kind == Kind::kTseries) {
    const Value now = sprint({.kind = Shape::Kind::kRealtime}, {f_.observe(script::BlockOp::kClock)});
    key.push_back(
        f_.op(Op::kDiv, f_.apply("parse_number", {now, f_.constant(10)}), f_.constant(shape.interval)));
    // Without a function the last one counts.
    if (shape.fold.empty()) f_.erase(number, key);
  }
  if (kind == Kind::kCount || kind == Kind::kSum)
    f_.add_to(number, key, v.value());
  else
    f_.tally(number, key, v.value());
  return true;
}

script::Value Lowerer::as_word(const MapShape& shape, const std::vector<Value>& key, Statistic what) {
  return f_.or_default(f_.statistic(map_number(script_.map(shape.name.substr(1))), key, what),
                       f_.constant(0));
}

Result<Typed> Lowerer::read_map(const MapShape& shape, const std::vector<Value>& key, const Expr& e) {
  const uint32_t number = map_number(script_.map(shape.name.substr(1)));
  const Type type = integer(8, shape.value.is_signed);
  switch (shape.value.kind) {
    case Kind::kCount:
    case Kind::kSum:
      return of_number(f_.get(number, key), type);
    case Kind::kMin:
      return of_number(as_word(shape, key, Statistic::kMin), type);
    case Kind::kMax:
      return of_number(as_word(shape, key, Statistic::kMax), type);
    case Kind::kAverage:
      return of_number(as_word(shape, key, Statistic::kAverage), type);
    case Kind::kStats:
    case Kind::kHist:
    case Kind::kLhist:
    case Kind::kTseries:
      return at(e, fmt::format("{} has {}, which can only be printed", shape.name, to_string(shape.value)));
    default:
      break;
  }
  const Value v = f_.get(number, key);
  if (shape.value.is_several() || count_leaves(shape.value) > 1) return from_packed(shape.value, v);
  return Typed{.type = shape.value, .leaves = {v}};
}

Result<Typed> Lowerer::map_value(const Expr& e) {
  MapShape& shape = map(e);
  TRY(const std::vector<Value> key, key_of(e, shape));
  return read_map(shape, key, e);
}

}  // namespace blip::bt
