// SPDX-License-Identifier: MIT
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "bt/lower.h"
#include "bt/parser.h"

namespace blip::bt {

namespace {

using ExprKind = Expr::Kind;
constexpr unsigned kDeepest = 200;

// Calls that only compute something. All others do something, too.
bool only_computes(std::string_view name) {
  static const std::set<std::string_view> kNames = {
      "str",          "strlen",   "strncmp", "strcontains", "strstr",  "buf",         "nsecs",
      "reg",          "pid",      "tid",     "uid",         "gid",     "cpu",         "comm",
      "len",          "has_key",  "usym",    "ustack",      "uaddr",   "bswap",       "func",
      "probe",        "ntop",     "macaddr", "strerror",    "kptr",    "uptr",        "ppid",
      "sizeof",       "username", "rand",    "ncpus",       "elapsed", "signal_name", "strftime",
      "syscall_name", "count",    "sum",     "memcmp",      "min",     "max",         "avg"};
  return kNames.contains(name);
}

uint64_t alignment_in_memory(const Type& type) {
  if (type.kind == Type::Kind::kInteger) return type.size;
  if (type.is_text() || type.kind == Type::Kind::kBool) return 1;
  if (!type.is_several()) return 8;
  uint64_t largest = 1;
  for (const Field& f : type.fields) largest = std::max(largest, alignment_in_memory(f.type));
  return largest;
}

// As a structure of C would have it.
uint64_t size_in_memory(const Type& type, const Config& config) {
  using Kind = Type::Kind;
  switch (type.kind) {
    case Kind::kInteger:
      return type.size;
    case Kind::kBool:
      return 1;
    case Kind::kTarget:
    case Kind::kEnum:
      return script::resolve(*type.target).size;
    case Kind::kText:
      return type.most ? type.most : config.max_strlen;
    case Kind::kTuple:
    case Kind::kRecord:
    case Kind::kArray: {
      uint64_t size = 0, largest = 1;
      for (const Field& f : type.fields) {
        const uint64_t part = size_in_memory(f.type, config);
        const uint64_t align = alignment_in_memory(f.type);
        largest = std::max(largest, align);
        size = (size + align - 1) / align * align + part;
      }
      return (size + largest - 1) / largest * largest;
    }
    default:
      return 8;
  }
}

uint8_t size_of_literal(uint64_t n) {
  if (n <= INT8_MAX) return 1;
  if (n <= INT16_MAX) return 2;
  return n <= INT32_MAX ? 4 : 8;
}

}  // namespace

bool has_effects(const Expr& e) {
  switch (e.kind) {
    case ExprKind::kBlock:
    case ExprKind::kIf:
    case ExprKind::kIncrement:
      return true;
    case ExprKind::kCall:
      if (!only_computes(e.text)) return true;
      break;
    default:
      break;
  }
  return std::any_of(e.operands.begin(), e.operands.end(),
                     [](const ExprPtr& o) { return o && has_effects(*o); });
}

Result<Typed> Lowerer::value(const Expr& e) {
  if (depth_ > kDeepest) return at(e, "this is nested too deep");
  ++depth_;
  auto result = look(e);
  --depth_;
  return result;
}

Result<Typed> Lowerer::whole_value(const Expr& e) {
  TRY(Typed v, value(e));
  if (v.type.kind == Kind::kNothing) return at(e, "this has no value");
  return whole(e, std::move(v));
}

Result<Typed> Lowerer::local_value(const Expr& e) {
  TRY(Typed v, value(e));
  if (v.type.kind != Kind::kTarget || v.has_value()) return v;
  return whole(e, std::move(v));
}

Result<std::vector<Typed>> Lowerer::values(const std::vector<ExprPtr>& all, bool are_whole) {
  std::vector<Typed> result;
  for (size_t i = 0; i < all.size(); ++i) {
    TRY(Typed v, are_whole ? whole_value(*all[i]) : value(*all[i]));
    const bool is_behind_effects = std::any_of(all.begin() + static_cast<ptrdiff_t>(i) + 1, all.end(),
                                               [](const ExprPtr& e) { return has_effects(*e); });
    if (is_behind_effects) keep(v);
    result.push_back(std::move(v));
  }
  return result;
}

Result<script::Value> Lowerer::number(const Expr& e) {
  TRY(const Typed v, value(e));
  if (v.type.is_aggregate() || !v.has_value() || (!v.type.is_number() && v.type.kind != Kind::kTimestamp))
    return at(e, fmt::format("a number is wanted here, and this is {}", to_string(v.type)));
  return v.value();
}

script::Value Lowerer::truth_of(const Typed& v) {
  if (v.type.is_text()) return f_.apply("length", {v.value()});
  return v.value();
}

Result<script::Value> Lowerer::truth(const Expr& e) {
  TRY(const Typed v, value(e));
  if (!v.has_value() || (!v.type.is_number() && !v.type.is_text()))
    return at(e, fmt::format("this is no condition, but {}", to_string(v.type)));
  return truth_of(v);
}

Result<Typed> Lowerer::look(const Expr& e) {
  switch (e.kind) {
    case ExprKind::kInteger: {
      Type type = integer(size_of_literal(e.number), e.number <= INT64_MAX);
      type.is_flexible = e.number <= INT64_MAX;
      return of_number(f_.constant(e.number), type);
    }
    case ExprKind::kText:
      return of_text(f_.text(std::string_view(e.text).substr(0, e.text.find('\0'))));
    case ExprKind::kBool:
      return of_number(f_.constant(e.number), of_kind(Kind::kBool));
    case ExprKind::kName:
      return name(e);
    case ExprKind::kVariable: {
      const Variable* variable = find_variable(e.text);
      if (!variable)
        return at(e, fmt::format("there is no variable ${} here: it has to be set first", e.text));
      return variable_value(*variable);
    }
    case ExprKind::kMap:
    case ExprKind::kElement:
      return map_value(e);
    case ExprKind::kPositional:
      return positional(e);
    case ExprKind::kPositionals:
      return of_number(f_.constant(script_.parameters.size()), integer());
    case ExprKind::kUnary:
      return unary(e);
    case ExprKind::kBinary:
      return binary(e);
    case ExprKind::kConditional:
      return conditional(e);
    case ExprKind::kIncrement:
      return increment(e);
    case ExprKind::kField:
      return field(e);
    case ExprKind::kItem:
      return item(e);
    case ExprKind::kIndex:
      return index(e);
    case ExprKind::kCast:
      return cast(e);
    case ExprKind::kTuple:
    case ExprKind::kRecord:
      return tuple(e);
    case ExprKind::kCall:
      return call(e);
    case ExprKind::kSizeOf:
      return size_of(e);
    case ExprKind::kOffsetOf:
      return offset_of(e);
    case ExprKind::kCompileTime:
      return value(*e.operands[0]);
    case ExprKind::kBlock:
      return block_value(e);
    case ExprKind::kIf:
      return conditional_blocks(e, true);
    case ExprKind::kAddress:
      return at(e, "addresses of variables are not there: use the variable");
    case ExprKind::kTypeInfo:
    case ExprKind::kTypeArgument:
      return at(e, "types are no values");
    case ExprKind::kNothing:
      break;
  }
  return at(e, "this has no meaning");
}

// A builtin, or a label of an enumeration.
Result<Typed> Lowerer::name(const Expr& e) {
  if (const auto label = script_.types.find_label(e.text)) {
    Type type = of_kind(Kind::kEnum);
    type.target = label->type;
    type.is_signed = false;
    return of_number(f_.constant(static_cast<uint64_t>(label->value)), type);
  }
  return builtin(e, e.text);
}

// A number if it looks like one; str($1) makes the text of it.
Result<Typed> Lowerer::positional(const Expr& e) {
  if (e.number > script_.parameters.size()) return of_number(f_.constant(0));
  const std::string& text = script_.parameters[e.number - 1];
  std::string_view digits = text;
  const bool is_negative = digits.starts_with('-');
  if (is_negative) digits.remove_prefix(1);
  const bool is_hex = digits.starts_with("0x") || digits.starts_with("0X");
  if (is_hex) digits.remove_prefix(2);
  const int base = is_hex ? 16 : digits.size() > 1 && digits[0] == '0' ? 8 : 10;
  uint64_t n = 0;
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), n, base);
  if (digits.empty() || failed != std::errc() || end != digits.data() + digits.size())
    return of_text(f_.text(text));
  Type type = integer(is_negative ? 8 : size_of_literal(n));
  type.is_flexible = !is_negative;
  return of_number(f_.constant(is_negative ? 0 - n : n), type);
}

Result<Typed> Lowerer::tuple(const Expr& e) {
  TRY(const std::vector<Typed> parts, values(e.operands, true));
  Typed result{.type = of_kind(e.kind == ExprKind::kTuple ? Kind::kTuple : Kind::kRecord)};
  for (size_t i = 0; i < parts.size(); ++i)
    result.type.fields.push_back(
        {e.kind == ExprKind::kRecord ? e.names[i] : fmt::format("{}", i), parts[i].type});
  result.leaves = leaves_of_all(parts);
  return result;
}

Result<Typed> Lowerer::item(const Expr& e) {
  TRY(Typed of, value(*e.operands[0]));
  if (of.type.is_unknown()) return unknown();
  TRY(of, whole(*e.operands[0], std::move(of)));
  if (!of.type.is_several())
    return at(e, fmt::format("only tuples have elements .0, .1: this is {}", to_string(of.type)));
  if (e.number >= of.type.fields.size())
    return at(e, fmt::format("the tuple has {} elements: .0 is the first", of.type.fields.size()));
  size_t first = 0;
  for (size_t i = 0; i < e.number; ++i) first += count_leaves(of.type.fields[i].type);
  Typed result{.type = of.type.fields[e.number].type};
  const size_t count = count_leaves(result.type);
  for (size_t i = 0; i < count; ++i) result.leaves.push_back(of.leaves[first + i]);
  return result;
}

Result<Typed> Lowerer::conditional(const Expr& e) {
  if (!e.operands[1]) {  // a ?: b
    TRY(Typed test, value(*e.operands[0]));
    keep(test);
    TRY(const Typed no, value(*e.operands[2]));
    const Type both = common_type(test.type, no.type);
    if (both.kind == Kind::kNothing || test.leaves.size() != 1) return at(e, "both sides must have one type");
    return Typed{.type = both, .leaves = {f_.select(truth_of(test), test.value(), no.value())}};
  }
  const bool needs_blocks = has_effects(*e.operands[1]) || has_effects(*e.operands[2]);
  TRY(const Value test, truth(*e.operands[0]));
  if (!needs_blocks) {
    TRY(const Typed yes, whole_value(*e.operands[1]));
    TRY(const Typed no, whole_value(*e.operands[2]));
    const Type both = common_type(yes.type, no.type);
    if (both.kind == Kind::kNothing)
      return at(e, fmt::format("both sides must have one type: here are {} and {}", to_string(yes.type),
                               to_string(no.type)));
    Typed result{.type = both};
    for (size_t i = 0; i < yes.leaves.size(); ++i)
      result.leaves.push_back(f_.select(test, yes.leaves[i], no.leaves[i]));
    return result;
  }
  Expr blocks{.kind = ExprKind::kIf, .range = e.range};
  for (const ExprPtr& o : e.operands) blocks.operands.push_back(copy(*o));
  return conditional_blocks(blocks, true);
}

Result<Typed> Lowerer::size_of(const Expr& e) {
  Type type;
  if (e.type->of) {
    only_size_ = true;
    auto v = value(*e.type->of);
    only_size_ = false;
    if (!v) return v;
    type = v->type;
  } else {
    TRY(type, type_of(*e.type));
  }
  if (type.is_unknown()) return unknown();
  const uint64_t size = size_in_memory(type, script_.config);
  Type result = integer(8, false);
  result.is_flexible = true;
  return of_number(f_.constant(size), result);
}

Result<Typed> Lowerer::offset_of(const Expr& e) {
  Type type;
  if (e.type->of) {
    TRY(const Typed v, value(*e.type->of));
    type = v.type;
  } else {
    TRY(type, type_of(*e.type));
  }
  if (type.is_unknown()) return unknown();
  if (!type.target) return at(e, "offsetof wants a struct");
  uint64_t offset = 0;
  const script::Type* in = type.target;
  for (const std::string& name : e.names) {
    const auto found = script::find_member(script::resolve(*in), name);
    if (!found) return at(e, fmt::format("{} has no member '{}'", script::to_string(*in), name));
    offset += found->offset;
    in = found->member->type;
  }
  Type result = integer(8, false);
  result.is_flexible = true;
  return of_number(f_.constant(offset), result);
}

}  // namespace blip::bt
