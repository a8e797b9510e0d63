// SPDX-License-Identifier: MIT
// Functions of the tapset that blip computes.
#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "stap/body.h"

namespace blip::stap {

using script::BlockOp;
using Value = script::Value;

namespace {

std::string special(Special what) { return {kSpecial, static_cast<char>(what)}; }

// user_int16, user_ushort_error: how many bytes, whether signed, what if they cannot be read.
struct NumberForm {
  uint64_t size = 0;
  bool is_signed = true, fails = false;
};

std::optional<NumberForm> form_of(std::string_view name) {
  constexpr std::string_view kPrefix = "user_", kError = "_error", kWarn = "_warn";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  NumberForm form;
  if (name.ends_with(kError)) {
    form.fails = true;
    name.remove_suffix(kError.size());
  } else if (name.ends_with(kWarn)) {
    name.remove_suffix(kWarn.size());
  }
  struct Row {
    std::string_view name;
    uint64_t size;
    bool is_signed;
  };
  constexpr Row kRows[] = {{"char", 1, true},    {"short", 2, true}, {"ushort", 2, false}, {"int", 4, true},
                           {"uint", 4, false},   {"long", 8, true},  {"ulong", 8, false},  {"int8", 1, true},
                           {"uint8", 1, false},  {"int16", 2, true}, {"uint16", 2, false}, {"int32", 4, true},
                           {"uint32", 4, false}, {"int64", 8, true}, {"uint64", 8, false}};
  for (const Row& row : kRows)
    if (row.name == name) {
      form.size = row.size;
      form.is_signed = row.is_signed;
      return form;
    }
  return std::nullopt;
}

}  // namespace

Result<Value> Body::builtin(Expression& e, const Builtin& b) {
  TRY(Values a, values(e.operands));
  switch (b.how) {
    case Builtin::How::kObserve:
      return f_.observe(b.op);
    case Builtin::How::kOfPid:
      a.insert(a.begin(), f_.observe(BlockOp::kPid));
      [[fallthrough]];
    case Builtin::How::kApply:
      return f_.apply(b.library, a);
    case Builtin::How::kOwn:
      break;
  }
  return b.needs_hit ? at_hit(e, a) : own(e, a);
}

// In @entry(): when the call began.
Value Body::clock() {
  const Value now = f_.observe(BlockOp::kClock);
  if (!is_entry_) return now;
  return f_.op(Op::kSub, now, f_.pool_value(f_.pool().add({.op = Op::kLatency})));
}

Value Body::text_of_probe(Special what) {
  const Values probe = {f_.observe(BlockOp::kProbe)};
  return f_.sprint(f_.format(special(what), probe), probe);
}

Result<Value> Body::own(Expression& e, const Values& a) {
  const std::string& name = e.text;
  if (name == "log" || name == "warn") {
    f_.emit(f_.format(name == "log" ? "%s\n" : special(Special::kWarning), a), a);
    return number(0);
  }
  if (name == "error") {
    f_.fail(a[0]);
    f_.begin(f_.new_block());
    return number(0);
  }
  if (name == "exit" || name == "abort") {
    f_.exit(number(0));
    if (name == "abort")
      return end_frame(std::nullopt) ? Result<Value>((f_.begin(f_.new_block()), number(0))) : number(0);
    return number(0);
  }
  if (name == "execname")
    return f_.apply("thread_name", {f_.observe(BlockOp::kPid), f_.observe(BlockOp::kTid)});
  if (name == "pp") return text_of_probe(Special::kProbe);
  if (name == "pn") return text_of_probe(Special::kName);
  if (name == "probe_type") return text_of_probe(Special::kType);
  if (name == "ppfunc" || name == "probefunc")
    return f_.apply("probe_function", {f_.observe(BlockOp::kProbe)});
  if (name == "is_return")
    return f_.op(Op::kEqual, f_.apply("compare", {text_of_probe(Special::kType), f_.text("return")}),
                 number(0));
  if (name == "__stack") return f_.stack();
  if (name == "gettimeofday_ns") return f_.apply("realtime", {clock()});
  if (name == "get_cycles" || name == "local_clock_ns") return clock();
  if (name == "matched") {
    if (!match_subject_) return f_.text("");
    return f_.apply("regex_group", {f_.get(*match_subject_), f_.get(*match_pattern_), a[0]});
  }
  if (name == "ngroups") {
    if (!match_subject_) return number(0);
    return f_.apply("regex_groups", {f_.get(*match_subject_), f_.get(*match_pattern_)});
  }
  return error_at(e.spot, fmt::format("{}() is not supported yet", name));
}

Result<Value> Body::at_hit(Expression& e, const Values& a) {
  TRY_OK(needs_place(e));
  if (e.text.starts_with("user_string")) return user_text(e, a);
  TRY(const auto of_memory, user_number(e, a));
  if (of_memory) return *of_memory;
  TRY(const auto of_call, argument(e, a));
  if (of_call) return *of_call;
  return error_at(e.spot, fmt::format("{}() is not supported yet", e.text));
}

Result<Value> Body::user_text(Expression& e, const Values& a) {
  const std::string& name = e.text;
  int64_t most = maker_.limits().text;
  const bool has_length = name.starts_with("user_string_n");
  if (has_length) {
    const auto known = f_.constant_of(a[1]);
    if (!known)
      return error_at(e.operands[1]->spot, "the number of bytes must be known when the script is compiled");
    most = std::clamp<int64_t>(static_cast<int64_t>(*known), 0, most);
    if (most == 0) return f_.text("");
  }
  const Value read = f_.read_text(a[0], static_cast<uint32_t>(most));
  if (name.ends_with("_quoted")) return f_.apply("quote", {read});
  const size_t plain = has_length ? 2 : 1;
  const bool is_soft = name.ends_with("_warn") || name.ends_with("_nofault");
  if (is_soft && a.size() == plain) return f_.or_default(read, f_.text(""));
  return a.size() > plain ? f_.or_default(read, a[plain]) : read;
}

Result<std::optional<Value>> Body::user_number(Expression& e, const Values& a) {
  const auto form = form_of(e.text);
  if (!form) return std::optional<Value>();
  if (a[0].where != Value::Where::kPool)
    return error_at(
        e.operands[0]->spot,
        "this address is known only to blip, after the hit: what lies there cannot be read at the hit");
  const Value loaded = f_.pool_value(f_.pool().load(a[0].node, form->size, form->is_signed));
  return std::optional(form->fails ? loaded : f_.or_default(loaded, number(0)));
}

// int_arg(1), register("rdi"), returnval()
Result<std::optional<Value>> Body::argument(Expression& e, const Values& a) {
  const std::string& name = e.text;
  const auto place = [&](const Error& error) { return error_at(e.spot, error.message()); };
  if (name == "returnval") {
    const auto word = names_->return_word();
    if (!word) return place(word.error());
    const auto node = names_->number(*word);
    if (!node) return place(node.error());
    return std::optional(f_.pool_value(*node));
  }
  if (name == "register" || name == "u_register") {
    Expression& text = *e.operands[0];
    if (text.kind != Expression::Kind::kText)
      return error_at(text.spot, "the name of a register in quotes is expected here");
    const auto of = names_->reg(text.text);
    if (!of) return place(of.error());
    const auto node = names_->number(*of);
    if (!node) return place(node.error());
    return std::optional(f_.pool_value(*node));
  }
  const size_t suffix = name.find("_arg");
  if (suffix == std::string::npos) return std::optional<Value>();
  const auto which = f_.constant_of(a[0]);
  if (!which || *which < 1 || *which > 6)
    return error_at(e.operands[0]->spot, "an argument is 1 to 6, and a constant");
  const auto of = names_->argument(static_cast<unsigned>(*which) - 1);
  if (!of) return place(of.error());
  const auto node = names_->number(*of);
  if (!node) return place(node.error());
  const Value v = f_.pool_value(*node);
  const std::string_view type = std::string_view(name).substr(0, suffix);
  constexpr uint64_t kInt = 4;
  if (type == "int" || type == "s32") return std::optional(f_.extend(v, kInt, true));
  if (type == "uint" || type == "u32") return std::optional(f_.extend(v, kInt, false));
  return std::optional(v);
}

}  // namespace blip::stap
