// SPDX-License-Identifier: MIT
// Functions that do something: print, change maps, end the script.
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "bt/format_string.h"
#include "bt/lower.h"

namespace blip::bt {

using ExprKind = Expr::Kind;

struct CallTable {
  struct Row {
    std::string_view name;
    Lowerer::Call call;
  };
  static const Row* find(std::string_view name) {
    using L = Lowerer;
    static constexpr std::array kRows = {
        Row{"printf", &L::call_printf},
        Row{"errorf", &L::call_printf},
        Row{"warnf", &L::call_printf},
        Row{"debugf", &L::call_printf},
        Row{"system", &L::call_printf},
        Row{"cat", &L::call_printf},
        Row{"print", &L::call_print},
        Row{"exit", &L::call_exit},
        Row{"delete", &L::call_delete},
        Row{"clear", &L::call_whole_map},
        Row{"zero", &L::call_whole_map},
        Row{"has_key", &L::call_has_key},
        Row{"find", &L::call_find},
        Row{"len", &L::call_len},
        Row{"time", &L::call_time},
        Row{"join", &L::call_join},
        Row{"fail", &L::call_fail},
        Row{"static_assert", &L::call_assert},
        Row{"assert", &L::call_assert},
        Row{"assert_str", &L::call_is},
        Row{"str", &L::call_str},
        Row{"buf", &L::call_buf},
        Row{"strlen", &L::call_strlen},
        Row{"strncmp", &L::call_strncmp},
        Row{"strcontains", &L::call_contains},
        Row{"strstr", &L::call_strstr},
        Row{"str_concat", &L::call_concat},
        Row{"strerror", &L::call_named_number},
        Row{"signal_name", &L::call_named_number},
        Row{"strftime", &L::call_strftime},
        Row{"nsecs", &L::call_nsecs},
        Row{"usym", &L::call_usym},
        Row{"ustack", &L::call_ustack},
        Row{"reg", &L::call_reg},
        Row{"uaddr", &L::call_uaddr},
        Row{"ntop", &L::call_ntop},
        Row{"macaddr", &L::call_macaddr},
        Row{"bswap", &L::call_bswap},
        Row{"kptr", &L::call_pointer},
        Row{"uptr", &L::call_pointer},
        Row{"is_str", &L::call_is},
        Row{"is_integer", &L::call_is},
        Row{"is_ptr", &L::call_is},
        Row{"is_array", &L::call_is},
        Row{"is_literal", &L::call_is},
        Row{"is_unsigned_integer", &L::call_is},
        Row{"count", &L::call_aggregate},
        Row{"sum", &L::call_aggregate},
        Row{"min", &L::call_aggregate},
        Row{"max", &L::call_aggregate},
        Row{"avg", &L::call_aggregate},
        Row{"stats", &L::call_aggregate},
        Row{"hist", &L::call_aggregate},
        Row{"lhist", &L::call_aggregate},
        Row{"tseries", &L::call_aggregate},
        Row{"kstack", &L::refused},
        Row{"ksym", &L::refused},
        Row{"kaddr", &L::refused},
        Row{"cgroupid", &L::refused},
        Row{"cgroup_path", &L::refused},
        Row{"path", &L::refused},
        Row{"override", &L::refused},
        Row{"skboutput", &L::refused},
        Row{"percpu_kaddr", &L::refused},
        Row{"socket_cookie", &L::refused},
        Row{"signal", &L::refused},
        Row{"signal_thread", &L::refused},
        Row{"write_user", &L::refused},
        Row{"unwatch", &L::refused},
        Row{"kfunc_exist", &L::refused},
        Row{"kfunc_allowed", &L::refused},
        Row{"curtask", &L::refused},
        Row{"config", &L::call_builtin},
        Row{"pcomm", &L::call_builtin},
        Row{"leader_comm", &L::call_builtin},
        Row{"pid", &L::call_builtin},
        Row{"tid", &L::call_builtin},
        Row{"uid", &L::call_builtin},
        Row{"gid", &L::call_builtin},
        Row{"cpu", &L::call_builtin},
        Row{"comm", &L::call_builtin},
        Row{"func", &L::call_builtin},
        Row{"probe", &L::call_builtin},
        Row{"elapsed", &L::call_builtin},
        Row{"rand", &L::call_builtin},
        Row{"ncpus", &L::call_builtin},
        Row{"username", &L::call_builtin},
        Row{"retval", &L::call_builtin},
        Row{"ppid", &L::call_builtin},
        Row{"cpid", &L::call_builtin},
        Row{"has_cpid", &L::call_builtin},
        Row{"usermode", &L::call_builtin},
        Row{"probetype", &L::call_builtin},
        Row{"numaid", &L::refused},
        Row{"jiffies", &L::refused},
        Row{"cgroup", &L::refused},
        Row{"default_str_length", &L::call_builtin},
    };
    const auto found = std::find_if(kRows.begin(), kRows.end(), [&](const Row& r) { return r.name == name; });
    return found == kRows.end() ? nullptr : &*found;
  }
};

bool is_function(std::string_view name) { return CallTable::find(name) != nullptr; }

Result<Typed> Lowerer::call(const Expr& e) {
  const CallTable::Row* row = CallTable::find(e.text);
  if (!row) return at(e, fmt::format("there is no function '{}'", e.text));
  return (this->*row->call)(e);
}

Result<Typed> Lowerer::refused(const Expr& e) {
  if (e.text == "signal" || e.text == "signal_thread" || e.text == "write_user" || e.text == "override")
    return at(e, fmt::format("{} is refused: handlers never change the target", e.text));
  return at(e, fmt::format("{} is the kernel's: blip sees user space only; bpftrace as root can", e.text));
}

// The first argument is the format, a text that is written there.
Result<Typed> Lowerer::call_printf(const Expr& e) {
  const auto is = [&](std::string_view name) { return e.text == name; };
  if (e.operands.empty() || e.operands[0]->kind != ExprKind::kText)
    return at(e, fmt::format("{}() wants a format in quotes", e.text));
  if (is("system") && !script_.may_run_commands)
    return at(e, "system() runs commands: allow it with --unsafe");
  Shape shape{.text = e.operands[0]->text, .range = e.range, .expanded_from = e.expanded_from};
  shape.kind = is("printf")   ? Shape::Kind::kPrintf
               : is("errorf") ? Shape::Kind::kErrorf
               : is("warnf")  ? Shape::Kind::kWarnf
               : is("debugf") ? Shape::Kind::kDebugf
               : is("system") ? Shape::Kind::kSystem
                              : Shape::Kind::kCat;
  std::vector<Typed> arguments;
  for (size_t i = 1; i < e.operands.size(); ++i) {
    TRY(Typed v, whole_value(*e.operands[i]));
    const bool is_behind_effects =
        std::any_of(e.operands.begin() + static_cast<ptrdiff_t>(i) + 1, e.operands.end(),
                    [](const ExprPtr& o) { return has_effects(*o); });
    if (is_behind_effects) keep(v);
    arguments.push_back(std::move(v));
  }
  for (const Typed& v : arguments) shape.arguments.push_back(v.type);
  if (const std::string wrong = wrong_with_format(shape.text, shape.arguments); !wrong.empty())
    return at(e, wrong);
  const std::vector<Value> leaves = leaves_of_all(arguments);
  if (leaves.size() > script::kMaxArguments)
    return at(
        e, fmt::format("this prints {} values, and {} are possible", leaves.size(), script::kMaxArguments));
  emit(std::move(shape), leaves);
  return nothing();
}

// print(@map), print(@map, top, div), print(@map[key]), print(value)
Result<Typed> Lowerer::call_print(const Expr& e) {
  TRY_OK(wants(e, 1, 3));
  const Expr& what = *e.operands[0];
  Shape shape{.range = e.range};
  std::vector<Value> numbers;
  for (size_t i = 1; i < e.operands.size(); ++i) {
    TRY(const Value n, number(*e.operands[i]));
    numbers.push_back(f_.keep(n));
  }
  if (what.kind == ExprKind::kMap) {
    const MapShape& of = map(what);
    shape.kind = Shape::Kind::kPrintMap;
    shape.map = script_.index_of(of);
    while (numbers.size() < 2) numbers.push_back(f_.constant(0));
    emit(std::move(shape), numbers);
    return nothing();
  }
  if (!numbers.empty()) return at(e, "only a whole map is printed with a number of entries");
  if (what.kind == ExprKind::kElement) {
    MapShape& of = map(what);
    TRY(const std::vector<Value> key, key_of(what, of));
    const Kind kind = of.value.kind;
    const bool is_printed_only =
        kind == Kind::kStats || kind == Kind::kHist || kind == Kind::kLhist || kind == Kind::kTseries;
    if (is_printed_only) {
      shape.kind = Shape::Kind::kPrintEntry;
      map_number(of);
      emit(std::move(shape), key);
      return nothing();
    }
    TRY(const Typed found, read_map(of, key, what));
    shape.kind = Shape::Kind::kPrint;
    shape.map = UINT32_MAX;
    shape.arguments.push_back(found.type);
    emit(std::move(shape), found.leaves);
    return nothing();
  }
  TRY(const Typed v, whole_value(what));
  shape.kind = Shape::Kind::kPrint;
  shape.arguments.push_back(v.type);
  if (v.leaves.size() > script::kMaxArguments)
    return at(
        e, fmt::format("this prints {} values, and {} are possible", v.leaves.size(), script::kMaxArguments));
  emit(std::move(shape), v.leaves);
  return nothing();
}

// The handler ends there.
Result<Typed> Lowerer::call_exit(const Expr& e) {
  TRY_OK(wants(e, 0, 1));
  Value code = f_.constant(0);
  if (!e.operands.empty()) {
    TRY(code, number(*e.operands[0]));
  }
  f_.exit(code);
  f_.jump(last_);
  f_.begin(f_.new_block());
  return nothing();
}

// delete(@x[k]), delete(@x, k), delete(@x)
Result<Typed> Lowerer::call_delete(const Expr& e) {
  if (e.operands.empty()) return at(e, "delete() wants a map: delete(@x, key)");
  Value done = f_.constant(0);
  const Expr& first = *e.operands[0];
  if (e.operands.size() == 2 && first.kind == ExprKind::kMap) {
    MapShape& shape = map(first);
    TRY(const Typed key, whole_value(*e.operands[1]));
    TRY(const std::vector<Value> leaves, key_from(*e.operands[1], shape, key));
    done = f_.erase(map_number(shape), leaves);
    return of_number(done, of_kind(Kind::kBool));
  }
  for (const ExprPtr& o : e.operands) {  // 0.17: several at once
    if (o->kind != ExprKind::kMap && o->kind != ExprKind::kElement)
      return at(*o, "delete() wants a map: delete(@x, key)");
    MapShape& shape = map(*o);
    TRY(const std::vector<Value> key, key_of(*o, shape));
    done = f_.erase(map_number(shape), key);
  }
  return of_number(done, of_kind(Kind::kBool));
}

Result<Typed> Lowerer::call_whole_map(const Expr& e) {
  TRY_OK(wants(e, 1, 1));
  if (e.operands[0]->kind != ExprKind::kMap)
    return at(*e.operands[0], fmt::format("{}() wants a map without a key", e.text));
  const uint32_t number = map_number(map(*e.operands[0]));
  if (e.text == "clear")
    f_.clear(number);
  else
    f_.zero(number);
  return nothing();
}

Result<Typed> Lowerer::call_has_key(const Expr& e) {
  TRY_OK(wants(e, 2, 2));
  if (e.operands[0]->kind != ExprKind::kMap) return at(*e.operands[0], "has_key() wants a map");
  MapShape& shape = map(*e.operands[0]);
  TRY(const Typed key, whole_value(*e.operands[1]));
  TRY(const std::vector<Value> leaves, key_from(*e.operands[1], shape, key));
  return of_number(f_.has(map_number(shape), leaves), of_kind(Kind::kBool));
}

// find(@x, key, $v): true, and $v has the value.
Result<Typed> Lowerer::call_find(const Expr& e) {
  TRY_OK(wants(e, 3, 3));
  const Expr& target = *e.operands[2];
  if (e.operands[0]->kind != ExprKind::kMap || target.kind != ExprKind::kVariable)
    return at(e, "it is find(@map, key, $variable)");
  MapShape& shape = map(*e.operands[0]);
  TRY(Typed key, whole_value(*e.operands[1]));
  keep(key);
  TRY(std::vector<Value> leaves, key_from(*e.operands[1], shape, key));
  const Value is_there = f_.keep(f_.has(map_number(shape), leaves));
  if (!find_variable(target.text)) {
    TRY(Typed zero, read_map(shape, leaves, target));
    set_variable(new_variable(target.text, zero.type), zero);
  }
  const uint32_t yes = f_.new_block(), after = f_.new_block();
  f_.branch(is_there, yes, after);
  f_.begin(yes);
  TRY(Typed found, read_map(shape, leaves, target));
  TRY_OK(assign_variable(target, std::move(found)));
  f_.begin(after);
  return of_number(is_there, of_kind(Kind::kBool));
}

Result<Typed> Lowerer::call_len(const Expr& e) {
  TRY_OK(wants(e, 1, 1));
  if (e.operands[0]->kind == ExprKind::kMap) return of_number(f_.size(map_number(map(*e.operands[0]))));
  TRY(const Typed v, value(*e.operands[0]));
  if (v.type.kind != Kind::kUstack) return at(*e.operands[0], "len() wants a map or a stack");
  const Value frames = sprint({.kind = Shape::Kind::kFrames}, {v.leaves[1], f_.constant(v.type.limit)});
  return of_number(f_.apply("parse_number", {frames, f_.constant(10)}));
}

Result<Typed> Lowerer::call_time(const Expr& e) {
  TRY_OK(wants(e, 0, 1));
  Shape shape{.kind = Shape::Kind::kTime, .text = "%H:%M:%S\n"};
  if (!e.operands.empty()) {
    if (e.operands[0]->kind != ExprKind::kText) return at(*e.operands[0], "time() wants a format in quotes");
    shape.text = e.operands[0]->text;
  }
  emit(std::move(shape), {f_.observe(script::BlockOp::kClock)});
  return nothing();
}

// The texts that an array of pointers leads to.
Result<Typed> Lowerer::call_join(const Expr& e) {
  TRY_OK(wants(e, 1, 2));
  Shape shape{.kind = Shape::Kind::kJoin, .text = " "};
  if (e.operands.size() == 2) {
    if (e.operands[1]->kind != ExprKind::kText)
      return at(*e.operands[1], "join() wants its separator in quotes");
    shape.text = e.operands[1]->text;
  }
  TRY(const Typed v, value(*e.operands[0]));
  if (v.type.is_unknown() || (!names_ && has_hit_)) return nothing();
  if (!v.type.is_number()) return at(*e.operands[0], "join() wants the address of an array of texts");
  TRY(const script::Operand list, as_operand(*e.operands[0], v));
  auto node = names_->number(list);
  if (!node) return place(e, node.error());
  constexpr uint64_t kMost = 16;
  constexpr uint32_t kMostText = 100;
  std::vector<Value> texts;
  for (uint64_t i = 0; i < kMost; ++i) {
    script::Builder& pool = f_.pool();
    const uint32_t word = pool.load(pool.add(Op::kAdd, *node, pool.constant(i * 8)), 8);
    texts.push_back(f_.read_text(f_.pool_value(word), kMostText));
    shape.arguments.push_back(text_type());
  }
  emit(std::move(shape), texts);
  return nothing();
}

Result<Typed> Lowerer::call_fail(const Expr& e) {
  const bool has_text = !e.operands.empty() && e.operands[0]->kind == ExprKind::kText;
  return at(e, has_text ? e.operands[0]->text : "fail() was reached");
}

// assert(condition, text) at run time, static_assert(condition, text) now.
Result<Typed> Lowerer::call_assert(const Expr& e) {
  TRY_OK(wants(e, 2, 2));
  TRY(const Value test, truth(*e.operands[0]));
  if (e.text == "static_assert") {
    const auto known = f_.constant_of(test);
    if (!known) return at(*e.operands[0], "this is not known before the script runs");
    if (*known == 0)
      return at(e,
                e.operands[1]->kind == ExprKind::kText ? e.operands[1]->text : "the assertion does not hold");
    return nothing();
  }
  const uint32_t wrong = f_.new_block(), after = f_.new_block();
  f_.branch(test, after, wrong);
  f_.begin(wrong);
  TRY(const Typed text, whole_value(*e.operands[1]));
  Shape shape{.kind = Shape::Kind::kErrorf, .text = "assert failed: %s", .range = e.range};
  shape.arguments.push_back(text.type);
  emit(std::move(shape), text.leaves);
  f_.exit(f_.constant(1));
  f_.jump(last_);
  f_.begin(after);
  return nothing();
}

Result<Typed> Lowerer::call_aggregate(const Expr& e) {
  return at(e, fmt::format("{}() is only assigned to a map: @x = {}(...)", e.text, e.text));
}

}  // namespace blip::bt
