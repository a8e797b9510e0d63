// SPDX-License-Identifier: MIT
// Finds what names mean. A name that is no global is a local of the function or handler where it stands.
#include <fmt/core.h>
#include <regex.h>

#include <algorithm>

#include "stap/builtins.h"
#include "stap/module.h"
#include "stap/walk.h"
#include "state/types.h"

namespace blip::stap {

namespace {

using Kind = Expression::Kind;
using S = Statement::Kind;

// A function or a handler.
struct Scope {
  Function* function = nullptr;
  Handler* handler = nullptr;
  std::map<std::string, Variable*, std::less<>> locals{};
  bool is_of_tapset = false;
};

class Resolver {
 public:
  explicit Resolver(Module& module) : module_(module) {
    for (File& file : module.files)
      for (const auto& global : file.globals) {
        globals_of_[global->spot.source][global->name] = global.get();
        module_.all_globals.push_back(global.get());
      }
    for (File& file : module.files)
      for (const auto& global : file.globals)
        if (!global->is_private || &file == &module.files[0])
          module_.globals.emplace(global->name, global.get());
  }

  Status run() {
    TRY_OK(initial_values());
    for (Handler& h : module_.handlers) {
      Scope scope{.handler = &h};
      if (h.condition != nullptr) TRY_OK(condition(*h.condition));
      for (const StatementPtr& body : h.bodies) TRY_OK(statement(scope, *body, 0));
    }
    for (const auto& f : module_.files[0].functions) TRY_OK(function(*f));
    while (!waiting_.empty()) {
      Function& f = *waiting_.back();
      waiting_.pop_back();
      TRY_OK(function(f));
    }
    for (Handler& h : module_.handlers) {
      if (h.condition != nullptr) reach(*h.condition);
      for (const StatementPtr& body : h.bodies)
        for_all_expressions(*body, [this](Expression& e) { reach_one(e); });
    }
    return {};
  }

 private:
  // -G NAME=VALUE takes the place of what the script says.
  Status initial_values() {
    for (const auto& [name, value] : module_.settings.globals) {
      const auto found = module_.globals.find(name);
      if (found == module_.globals.end())
        return Error(ErrorKind::kUsage, fmt::format("-G {}: the script has no global of that name", name));
      Variable& v = *found->second;
      char* end = nullptr;
      const auto number = static_cast<int64_t>(std::strtoll(value.c_str(), &end, 0));
      const bool is_number = !value.empty() && *end == 0;
      v.init = std::make_unique<Expression>();
      v.init->spot = v.spot;
      v.init->kind = is_number && v.type != Type::kString ? Kind::kNumber : Kind::kText;
      v.init->number = static_cast<uint64_t>(number);
      v.init->text = value;
      v.arity = 0;
      v.type = v.init->kind == Kind::kNumber ? Type::kLong : Type::kString;
    }
    return {};
  }

  void reach(Expression& e) {
    for_all_expressions(e, [this](Expression& one) { reach_one(one); });
  }

  void reach_one(Expression& e) {
    for (Function* f : e.functions) {
      if (f->is_reached) continue;
      f->is_reached = true;
      if (f->body != nullptr) for_all_expressions(*f->body, [this](Expression& one) { reach_one(one); });
    }
  }

  Status function(Function& f) {
    if (f.is_resolved || f.body == nullptr) return {};
    f.is_resolved = true;
    if (f.body->kind == S::kEmbedded)
      return error_at(f.body->spot, "blip runs no embedded C: a handler never changes the target");
    Scope scope{.function = &f, .is_of_tapset = f.spot.source->is_tapset};
    for (const auto& parameter : f.parameters) scope.locals[parameter->name] = parameter.get();
    return statement(scope, *f.body, 0);
  }

  // Of a probe: it may look at globals only.
  Status condition(Expression& e) {
    Error error(ErrorKind::kUsage, "");
    bool is_wrong = false;
    const auto refuse = [&](const Expression& at, std::string_view why) {
      if (!is_wrong) error = error_at(at.spot, why);
      is_wrong = true;
    };
    for_all_expressions(e, [&](Expression& one) {
      switch (one.kind) {
        case Kind::kAssign:
        case Kind::kIncrement:
          return refuse(one, "the condition of a probe changes nothing");
        case Kind::kCall:
        case Kind::kPrint:
          return refuse(one, "the condition of a probe calls no function");
        case Kind::kTarget:
        case Kind::kCast:
        case Kind::kVar:
        case Kind::kAutocast:
        case Kind::kEntry:
          return refuse(one, "the condition of a probe looks at globals only");
        case Kind::kName:
          if (!module_.globals.contains(one.text))
            refuse(one, "the condition of a probe looks at globals only");
          return;
        default:
          return;
      }
    });
    if (is_wrong) return error;
    Scope scope;
    return expression(scope, e);
  }

  Status statement(Scope& scope, Statement& s, size_t loops) {
    const bool is_loop = s.kind == S::kFor || s.kind == S::kForeach;
    if ((s.kind == S::kBreak || s.kind == S::kContinue) && loops == 0)
      return error_at(s.spot,
                      fmt::format("'{}' stands in a loop only", s.kind == S::kBreak ? "break" : "continue"));
    if (s.kind == S::kForeach) TRY_OK(loop(scope, *s.foreach));
    if (s.kind == S::kIf && s.value->kind == Kind::kDefined) {
      TRY_OK(defined(scope, *s.value));
      if (s.value->kind == Kind::kNumber) s.body[0]->body.clear();
      if (s.value->kind == Kind::kNumber) s.body[0]->kind = S::kEmpty;
    }
    Status result;
    for (const ExpressionPtr* e : {&s.init, &s.value, &s.step})
      if (*e != nullptr) {
        if (s.kind == S::kDelete) return deletion(scope, **e);
        TRY_OK(expression(scope, **e));
      }
    for (const StatementPtr& child : s.body) TRY_OK(statement(scope, *child, loops + (is_loop ? 1 : 0)));
    return result;
  }

  Status deletion(Scope& scope, Expression& e) {
    if (e.kind != Kind::kName && e.kind != Kind::kElement)
      return error_at(e.spot, "only a variable, an array or an element of one is deleted");
    if (e.kind == Kind::kElement) return expression(scope, e);
    if (Variable* v = find(scope, e.text)) {
      e.variable = v;
      return {};
    }
    return error_at(e.spot, fmt::format("there is no array {} to delete", e.text));
  }

  Status loop(Scope& scope, Foreach& f) {
    if (f.histogram != nullptr) {
      TRY_OK(expression(scope, *f.histogram));
      if (f.keys.size() != 1) return error_at(f.array_spot, "a histogram has one index");
    } else {
      f.variable = find(scope, f.array);
      if (f.variable == nullptr) return missing_array(scope, f.array, f.array_spot);
      TRY_OK(set_arity(*f.variable, f.keys.size(), f.array_spot));
    }
    if (f.has_slice && f.slice.size() != f.keys.size())
      return error_at(f.array_spot, fmt::format("the array {} has {} indexes, the slice has {}", f.array,
                                                f.keys.size(), f.slice.size()));
    for (const ExpressionPtr& key : f.keys) TRY_OK(name(scope, *key));
    if (f.value != nullptr) TRY_OK(name(scope, *f.value));
    for (const ExpressionPtr& key : f.slice)
      if (key != nullptr) TRY_OK(expression(scope, *key));
    return f.limit == nullptr ? Status() : expression(scope, *f.limit);
  }

  Status expression(Scope& scope, Expression& e) {
    if (e.kind == Kind::kDefined) return defined(scope, e);
    if (e.kind == Kind::kTernary) TRY_OK(drop_undefined(scope, e));
    if (e.kind == Kind::kDefined || e.kind == Kind::kNumber)
      return e.kind == Kind::kDefined ? defined(scope, e) : Status();
    for (const ExpressionPtr& operand : e.operands)
      if (operand != nullptr) TRY_OK(expression(scope, *operand));
    if (e.base != nullptr) TRY_OK(expression(scope, *e.base));
    for (const Component& c : e.components)
      if (c.index != nullptr) TRY_OK(expression(scope, *c.index));
    switch (e.kind) {
      case Kind::kName:
        return name(scope, e);
      case Kind::kElement:
      case Kind::kIn:
        return element(scope, e);
      case Kind::kCall:
        return call(scope, e);
      case Kind::kStatistic:
      case Kind::kHistogram:
        return statistic(e);
      case Kind::kTarget:
      case Kind::kEntry:
      case Kind::kRegister:
        return of_target(scope, e);
      case Kind::kMatch:
        return regex(*e.operands[1]);
      default:
        return form(e);
    }
  }

  // @defined(x) ? a : b where x has no meaning whatever the place: what it guards may have none either.
  Status drop_undefined(Scope& scope, Expression& e) {
    if (e.operands[0]->kind != Kind::kDefined) return {};
    TRY_OK(defined(scope, *e.operands[0]));
    if (e.operands[0]->kind != Kind::kNumber) return {};
    ExpressionPtr rest = std::move(e.operands[2]);
    e = std::move(*rest);
    return {};
  }

  // What means nothing is not defined.
  Status defined(Scope& scope, Expression& e) {
    if (expression(scope, *e.operands[0])) return {};
    e.kind = Kind::kNumber;
    e.number = 0;
    e.operands.clear();
    return {};
  }

  static Status of_target(const Scope& scope, const Expression& e) {
    using Probe = script::WantedProbe::Kind;
    const std::string what = e.kind == Kind::kTarget ? e.text : e.text + "()";
    if (scope.handler == nullptr)
      return error_at(e.spot,
                      fmt::format("{} has no meaning in a function: a handler passes the value to it", what));
    const Probe kind = scope.handler->wanted.kind;
    if (kind < Probe::kFunction)
      return error_at(e.spot,
                      fmt::format("{} has no meaning here: the probe is at no place of a program", what));
    if (e.kind == Kind::kEntry && kind != Probe::kReturn)
      return error_at(e.spot, "@entry() has a meaning in .return probes only");
    return e.kind == Kind::kRegister ? form(e) : Status();
  }

  static Status regex(const Expression& pattern) {
    regex_t compiled;
    const int code = regcomp(&compiled, pattern.text.c_str(), REG_EXTENDED | REG_NOSUB);
    if (code == 0) {
      regfree(&compiled);
      return {};
    }
    char why[128];
    regerror(code, nullptr, why, sizeof why);
    return error_at(pattern.spot, fmt::format("this regular expression is not valid: {}", why));
  }

  // What is wrong wherever it stands.
  static Status form(const Expression& e) {
    switch (e.kind) {
      case Kind::kAssign:
      case Kind::kIncrement:
        return assignment(e);
      case Kind::kEmbedded:
        return error_at(e.spot, "blip runs no embedded C: a handler never changes the target");
      case Kind::kRegister:
      case Kind::kDeref:
        if (e.is_of_kernel)
          return error_at(e.spot, fmt::format("{}() looks at the kernel: blip sees user space only", e.text));
        return {};
      case Kind::kPerf:
        return error_at(e.spot, "@perf() counters are not supported");
      case Kind::kProbeWrite:
        return error_at(e.spot, "@probewrite() is not supported");
      default:
        return {};
    }
  }

  static Status assignment(const Expression& e) {
    const Expression& left = *e.operands[0];
    if (e.text == "<<<" && left.kind == Kind::kName && !left.variable->is_global)
      return error_at(left.spot, fmt::format("stats are globals, which 'global {}' makes", left.text));
    switch (left.kind) {
      case Kind::kName:
      case Kind::kElement:
        if (left.base != nullptr) return error_at(left.spot, "the buckets of a histogram cannot be set");
        for (const ExpressionPtr& key : left.operands)
          if (key == nullptr)
            return error_at(left.spot, "a * stands for all keys: only delete and in take it");
        return {};
      case Kind::kTarget:
      case Kind::kCast:
      case Kind::kVar:
      case Kind::kAutocast:
        return error_at(left.spot, "a handler never changes the target");
      default:
        return error_at(e.spot, "only a variable or an element of an array is set");
    }
  }

  static Status statistic(const Expression& e) {
    const Variable* v = e.operands[0]->variable;
    if (v != nullptr && !v->is_global)
      return error_at(e.spot, fmt::format("{} has no stats: stats are globals, which 'global {}' makes",
                                          v->name, v->name));
    const Kind of = e.operands[0]->kind;
    if (of != Kind::kName && of != Kind::kElement)
      return error_at(e.spot, fmt::format("{} is taken of a global, or an element of an array", e.text));
    if (e.text == "@hist_linear") {
      if (e.numbers[2] <= 0) return error_at(e.spot, "the step of a histogram is 1 or more");
      if (e.numbers[0] > e.numbers[1])
        return error_at(e.spot, "the upper end of a histogram is above the lower one");
    }
    return {};
  }

  Variable* find_global(const Scope& scope, const std::string& wanted) const {
    const Source* source = scope.function == nullptr ? nullptr : scope.function->spot.source;
    if (scope.is_of_tapset) {
      const auto file = globals_of_.find(source);
      if (file == globals_of_.end()) return nullptr;
      const auto found = file->second.find(wanted);
      return found == file->second.end() ? nullptr : found->second;
    }
    const auto found = module_.globals.find(wanted);
    return found == module_.globals.end() ? nullptr : found->second;
  }

  Variable* find(const Scope& scope, const std::string& wanted) const {
    const auto local = scope.locals.find(wanted);
    return local != scope.locals.end() ? local->second : find_global(scope, wanted);
  }

  Status name(Scope& scope, Expression& e) {
    e.variable = find(scope, e.text);
    if (e.variable != nullptr) return e.variable->size ? set_arity(*e.variable, 0, e.spot) : Status();
    if (scope.function == nullptr && scope.handler == nullptr)
      return error_at(e.spot, fmt::format("there is no global {}", e.text));
    auto v = std::make_unique<Variable>();
    v->name = e.text;
    v->spot = e.spot;
    v->arity = 0;
    v->is_global = false;
    e.variable = scope.locals[e.text] = v.get();
    auto& locals = scope.function != nullptr ? scope.function->locals : scope.handler->locals;
    locals.push_back(std::move(v));
    return {};
  }

  static Error missing_array(const Scope&, const std::string& array, const Spot& spot) {
    return error_at(
        spot, fmt::format("there is no array {}: arrays are globals, which 'global {}' makes", array, array));
  }

  Status set_arity(Variable& v, size_t arity, const Spot& spot) {
    if (v.size && arity == 0)
      return error_at(spot, fmt::format("{} is declared as an array, with [...]", v.name));
    if (!v.arity) {
      v.arity = arity;
      v.keys.resize(arity);
      if (arity > state::kMaxKey)
        return error_at(spot, fmt::format("an array has at most {} indexes", state::kMaxKey));
      return {};
    }
    if (*v.arity == arity) return {};
    const auto shape = [](size_t n) {
      return n == 0 ? std::string("no array")
                    : fmt::format("an array with {} index{}", n, n == 1 ? "" : "es");
    };
    return error_at(spot,
                    fmt::format("{} is {} here, and {} elsewhere", v.name, shape(arity), shape(*v.arity)));
  }

  Status element(Scope& scope, Expression& e) {
    if (e.base != nullptr) {
      if (e.operands.size() != 1 || e.operands[0] == nullptr)
        return error_at(e.spot, "a histogram has one index");
      return {};
    }
    e.variable = find(scope, e.text);
    if (e.variable == nullptr || !e.variable->is_global) return missing_array(scope, e.text, e.spot);
    return set_arity(*e.variable, e.operands.size(), e.spot);
  }

  Status call(Scope& scope, Expression& e) {
    const auto [begin, end] = module_.functions.equal_range(e.text);
    std::vector<Function*> named;
    bool is_user = false;
    for (auto i = begin; i != end; ++i) {
      const bool is_of_file =
          scope.function != nullptr && i->second->spot.source == scope.function->spot.source;
      if (i->second->is_private && i->second->spot.source != nullptr && i->second->spot.source->is_tapset &&
          !is_of_file)
        continue;
      named.push_back(i->second);
      is_user = is_user || (i->second->spot.source != nullptr && !i->second->spot.source->is_tapset);
    }
    if (named.empty()) return unknown(e);
    // Functions of the script are tried before those of the tapset.
    if (is_user && !scope.is_of_tapset)
      std::erase_if(named,
                    [](const Function* f) { return f->spot.source == nullptr || f->spot.source->is_tapset; });
    for (Function* f : named)
      if (f->parameters.size() == e.operands.size()) e.functions.push_back(f);
    if (e.functions.empty())
      return error_at(e.spot,
                      fmt::format("{}() takes {} argument{}, not {}", e.text, named[0]->parameters.size(),
                                  named[0]->parameters.size() == 1 ? "" : "s", e.operands.size()));
    std::stable_sort(e.functions.begin(), e.functions.end(),
                     [](const Function* a, const Function* b) { return a->priority < b->priority; });
    for (Function* f : e.functions)
      if (!f->is_resolved && f->body != nullptr) waiting_.push_back(f);
    return {};
  }

  Error unknown(const Expression& e) const {
    std::vector<std::string> names;
    for (const auto& [known, f] : module_.functions)
      if (!known.starts_with("__")) names.push_back(known);
    const std::string all = script::list_names(names, e.text);
    return error_at(e.spot, fmt::format("there is no function {}(); there are {}", e.text, all));
  }

  Module& module_;
  std::map<const Source*, std::map<std::string, Variable*, std::less<>>> globals_of_;
  std::vector<Function*> waiting_;
};

}  // namespace

Status resolve_names(Module& module) { return Resolver(module).run(); }

}  // namespace blip::stap
