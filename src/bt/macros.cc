// SPDX-License-Identifier: MIT
#include "bt/macros.h"

#include <fmt/core.h>

#include <functional>

#include "bt/lower.h"
#include "bt/parser.h"

namespace blip::bt {

namespace {

using Kind = Expr::Kind;
constexpr unsigned kDeepest = 32;

using Visit = std::function<Status(ExprPtr&)>;

Status visit_children(Expr& e, const Visit& visit);

Status visit_statement(Stmt& s, const Visit& visit) {
  for (ExprPtr* part : {&s.target, &s.value, &s.end, &s.body})
    if (*part) TRY_OK(visit(*part));
  return s.type && s.type->of ? visit(s.type->of) : Status();
}

Status visit_children(Expr& e, const Visit& visit) {
  for (ExprPtr& o : e.operands)
    if (o) TRY_OK(visit(o));
  for (StmtPtr& s : e.statements) TRY_OK(visit_statement(*s, visit));
  return e.type && e.type->of ? visit(e.type->of) : Status();
}

class Expander {
 public:
  explicit Expander(Declarations& script) : script_(script) {}

  Status run() {
    TRY_OK(check_macros());
    for (ProbeBlock& probe : script_.tree.probes) {
      if (probe.predicate) TRY_OK(expand(probe.predicate, 0));
      TRY_OK(expand(probe.body, 0));
    }
    return {};
  }

 private:
  Status check_macros() {
    for (size_t i = 0; i < script_.tree.macros.size(); ++i) {
      const Macro& macro = script_.tree.macros[i];
      for (size_t k = 0; k < i; ++k)
        if (fits(script_.tree.macros[k], macro.name, macro.parameters))
          return at(macro.range, fmt::format("macro '{}' is defined twice", macro.name));
    }
    return {};
  }

  // Macros of one name differ in the number and kinds of their parameters.
  static bool fits(const Macro& macro, std::string_view name, const std::vector<ExprPtr>& arguments) {
    if (macro.name != name || macro.parameters.size() != arguments.size()) return false;
    for (size_t i = 0; i < arguments.size(); ++i)
      if (macro.parameters[i]->kind != Kind::kName && macro.parameters[i]->kind != arguments[i]->kind)
        return false;
    return true;
  }

  Error at(Range range, std::string_view message) const {
    return script::error_at(script_.source, range, message);
  }

  Status expand(ExprPtr& e, unsigned depth) {
    if (depth > kDeepest) return at(e->range, "macros are nested too deep: does one call itself?");
    if (e->kind == Kind::kName) {
      const auto found = script_.defines.find(e->text);
      if (found != script_.defines.end()) {
        const Range range = e->range;
        e = copy(*found->second);
        set_range(*e, range);
        return expand(e, depth + 1);
      }
    }
    const bool may_be_macro = e->kind == Kind::kCall || e->kind == Kind::kName;
    if (const Macro* macro = may_be_macro ? find(*e) : nullptr) {
      for (ExprPtr& argument : e->operands) TRY_OK(expand(argument, depth));
      TRY_OK(replace(e, *macro));
      return expand(e, depth + 1);
    }
    return visit_children(*e, [&](ExprPtr& child) { return expand(child, depth); });
  }

  // A macro without parameters can be used as a name.
  const Macro* find(const Expr& call) const {
    const Macro* named = nullptr;
    for (const Macro& macro : script_.tree.macros) {
      if (macro.name == call.text) named = &macro;
      if (fits(macro, call.text, call.operands)) return &macro;
    }
    return call.kind == Kind::kCall && !is_function(call.text) ? named : nullptr;
  }

  Status replace(ExprPtr& call, const Macro& macro) {
    if (!fits(macro, macro.name, call->operands)) return wrong_arguments(*call, macro);
    ExprPtr body = copy(*macro.body);
    const std::string suffix = fmt::format("#{}", ++count_);
    TRY_OK(substitute(body, macro, *call, suffix));
    body->expanded_from.push_back(call->range);
    call = std::move(body);
    return {};
  }

  Status wrong_arguments(const Expr& call, const Macro& macro) const {
    const size_t wanted = macro.parameters.size();
    if (call.operands.size() != wanted)
      return at(call.range, fmt::format("macro '{}' has {} parameters, and here are {} arguments", macro.name,
                                        wanted, call.operands.size()));
    for (size_t i = 0; i < wanted; ++i) {
      const Kind kind = macro.parameters[i]->kind;
      if (kind != Kind::kName && kind != call.operands[i]->kind)
        return at(call.operands[i]->range, fmt::format("macro '{}' wants a {} here", macro.name,
                                                       kind == Kind::kMap ? "map" : "variable"));
    }
    return {};
  }

  static const Expr* argument_for(const Expr& e, const Macro& macro, const Expr& call) {
    for (size_t i = 0; i < macro.parameters.size(); ++i) {
      const Expr& parameter = *macro.parameters[i];
      const bool is_map = parameter.kind == Kind::kMap && e.kind == Kind::kElement;
      if (parameter.text == e.text && (parameter.kind == e.kind || is_map)) return call.operands[i].get();
    }
    return nullptr;
  }

  // A parameter where a type is wanted: the type that the argument is, or has.
  static void substitute_type(std::unique_ptr<TypeName>& type, const Macro& macro, const Expr& call) {
    if (!type || type->of) return;
    for (size_t i = 0; i < macro.parameters.size(); ++i) {
      const Expr& argument = *call.operands[i];
      if (macro.parameters[i]->kind != Kind::kName || macro.parameters[i]->text != type->name) continue;
      if (argument.kind != Kind::kTypeArgument) {
        type->of = copy(argument);
        return;
      }
      auto whole = copy(argument);
      whole->type->suffixes += type->suffixes;
      whole->type->sizes.insert(whole->type->sizes.end(), type->sizes.begin(), type->sizes.end());
      type = std::move(whole->type);
      return;
    }
  }

  // Variables of the macro's own get names of their own.
  Status substitute(ExprPtr& e, const Macro& macro, const Expr& call, const std::string& suffix) {
    const bool is_name = e->kind == Kind::kVariable || e->kind == Kind::kMap || e->kind == Kind::kName ||
                         e->kind == Kind::kElement;
    if (is_name) {
      if (const Expr* argument = argument_for(*e, macro, call)) {
        if (e->kind != Kind::kElement) {
          e = copy(*argument);
          return {};
        }
        e->text = argument->text;
      } else if (e->kind == Kind::kVariable) {
        e->text += suffix;
      } else if (e->kind == Kind::kMap || e->kind == Kind::kElement) {
        return at(e->range,
                  fmt::format("a macro uses only maps that it is given: add @{} to its parameters", e->text));
      }
    }
    e->expanded_from.push_back(call.range);
    substitute_type(e->type, macro, call);
    for (StmtPtr& s : e->statements) substitute_type(s->type, macro, call);
    return visit_children(*e, [&](ExprPtr& child) { return substitute(child, macro, call, suffix); });
  }

  static void set_range(Expr& e, Range range) {
    e.range = range;
    for (ExprPtr& o : e.operands)
      if (o) set_range(*o, range);
  }

  Declarations& script_;
  unsigned count_ = 0;
};

}  // namespace

Status expand_macros(Declarations& script) {
  for (const auto& [name, text] : script.tree.defines) {
    auto value = parse_expression(text);
    if (value) script.defines[name] = *std::move(value);
  }
  return Expander(script).run();
}

}  // namespace blip::bt
