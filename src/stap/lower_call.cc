// SPDX-License-Identifier: MIT
// Calls, and what is printed.
#include <fmt/core.h>

#include <algorithm>

#include "stap/body.h"
#include "stap/format.h"

namespace blip::stap {

using Kind = Expression::Kind;
using Value = script::Value;

namespace {

constexpr size_t kMaxInlined = 20;  // functions in functions

// In a format, a % stands for itself if it is doubled.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) result += c == '%' ? std::string("%%") : std::string(1, c);
  return result;
}

}  // namespace

Result<Value> Body::call(Expression& e) {
  if (e.functions[0]->builtin != nullptr) return builtin(e, *e.functions[0]->builtin);
  TRY(const Values arguments, values(e.operands));
  const bool is_inlined =
      names_ != nullptr && (is_entry_ || std::any_of(e.functions.begin(), e.functions.end(),
                                                     [&](Function* f) { return maker_.needs_hit(*f); }));
  if (is_inlined) return inlined(e, 0, arguments);
  for (Function* f : e.functions)
    if (maker_.needs_hit(*f))
      return error_at(
          e.spot,
          fmt::format("{}() looks at the target, and this probe is at no place of a program", f->name));
  TRY(const uint32_t number_of_it, maker_.function(e.functions, 0));
  const Value v = f_.call(number_of_it, arguments);
  return e.functions[0]->type == Type::kUnknown ? number(0) : v;
}

// The function's body becomes part of this one, because it looks at the target.
Result<Value> Body::inlined(Expression& e, size_t which, const Values& arguments) {
  Function& f = *e.functions[which];
  for (const Frame& outer : frames_)
    if (outer.overloads != nullptr && (*outer.overloads)[outer.which] == &f)
      return error_at(e.spot,
                      fmt::format("{}() calls itself and looks at the target: this is not possible", f.name));
  if (frames_.size() > kMaxInlined)
    return error_at(e.spot, "functions that look at the target are nested too deep");
  Frame inner{.overloads = &e.functions, .which = which, .end = f_.new_block()};
  const Type type = e.type == Type::kUnknown ? f.type : e.type;
  if (type != Type::kUnknown) {
    inner.result = f_.add_local(value_type(type));
    f_.set(*inner.result, nothing(type));
  }
  Values given = arguments;
  frames_.push_back(std::move(inner));
  for (size_t i = 0; i < given.size(); ++i) f_.set(local_of(*f.parameters[i]), given[i]);
  for (const auto& local : f.locals) f_.set(local_of(*local), nothing(local->type));
  std::vector<Loop> loops;
  std::swap(loops, loops_);
  const Status made = statement(*f.body);
  std::swap(loops, loops_);
  const uint32_t end = *frame().end;
  const auto result = frame().result;
  frames_.pop_back();
  if (!made) return made.error();
  if (f_.is_open()) f_.jump(end);
  f_.begin(end);
  return result ? f_.get(*result) : number(0);
}

Result<Value> Body::print_histogram(Expression& e) {
  const PrintKind& kind = *find_print(e.text);
  Expression& of = *e.base->operands[0];
  TRY(const Values keys, keys_of(of));
  const std::string format = fmt::format("{}{}{}{}", kSpecial, static_cast<char>(Special::kHistogram),
                                         maker_.map_of(*of.variable), kind.has_newline ? "\n" : "");
  if (kind.is_text) return f_.sprint(f_.format(format, keys), keys);
  f_.emit(f_.format(format, keys), keys);
  return number(0);
}

// All of them become formats of printf().
Result<Value> Body::print(Expression& e) {
  if (e.base != nullptr) return print_histogram(e);
  const PrintKind& kind = *find_print(e.text);
  TRY(const Values arguments, values(e.operands));
  std::string format = kind.has_format ? e.format : "";
  if (!kind.has_format) {
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (i > 0 && kind.has_delimiter) format += escaped(e.format);
      format += kind.is_char ? "%c" : arguments[i].is_text() ? "%s" : "%d";
    }
    if (kind.has_newline) format += "\n";
  }
  if (arguments.size() > script::kMaxArguments)
    return error_at(e.spot, fmt::format("{}() prints at most {} values", e.text, script::kMaxArguments));
  const auto directives = parse_format(format);
  for (const Directive& d : *directives)
    if (d.kind == Directive::Kind::kMemory || d.kind == Directive::Kind::kMemoryHex)
      return error_at(e.spot, "%m and %M are not supported yet");
  const uint32_t number_of_it = f_.format(format, arguments);
  if (kind.is_text) return f_.sprint(number_of_it, arguments);
  f_.emit(number_of_it, arguments);
  return number(0);
}

}  // namespace blip::stap
