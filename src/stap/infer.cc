// SPDX-License-Identifier: MIT
// Types: what is known of one use of a variable or function holds for all. Everything is looked at until nothing new is found;
// what then has no type is an error.
#include <fmt/core.h>

#include "stap/format.h"
#include "stap/module.h"
#include "stap/tree_text.h"
#include "stap/walk.h"

namespace blip::stap {

namespace {

using Kind = Expression::Kind;
using S = Statement::Kind;

class Inference {
 public:
  explicit Inference(Module& module) : module_(module) {}

  Status run() {
    do {
      is_changed_ = false;
      pass();
      if (error_) return *error_;
    } while (is_changed_);
    is_last_ = true;
    pass();
    if (error_) return *error_;
    return check_globals();
  }

 private:
  void pass() {
    for (Handler& h : module_.handlers) {
      function_ = nullptr;
      if (h.condition != nullptr) visit(*h.condition, Type::kLong);
      for (const StatementPtr& body : h.bodies) visit(*body);
    }
    for (File& file : module_.files)
      for (const auto& f : file.functions) {
        if (!f->is_reached || f->body == nullptr) continue;
        function_ = f.get();
        visit(*f->body);
      }
  }

  void fail(const Spot& spot, const std::string& message) {
    if (!error_) error_ = error_at(spot, message);
  }

  // Both are the same type from now on.
  void unify(const Spot& spot, Type& slot, Type type) {
    if (type == Type::kUnknown || slot == type) return;
    if (slot != Type::kUnknown) return mismatch(spot, type, slot);
    slot = type;
    is_changed_ = true;
  }

  void mismatch(const Spot& spot, Type expected, Type found) {
    fail(spot, fmt::format("a {} is expected here, and this is a {}", name_of(expected), name_of(found)));
  }

  // The type of an expression; `wanted` is what its place asks for, if that is known.
  Type visit(Expression& e, Type wanted) {
    if (error_) return Type::kUnknown;
    Type type = look(e, wanted);
    if (wanted != Type::kUnknown && type != Type::kUnknown && type != wanted) mismatch(e.spot, wanted, type);
    if (is_last_ && type == Type::kUnknown && !error_) fail(e.spot, no_type(e));
    if (type != e.type && type != Type::kUnknown) {
      e.type = type;
      is_changed_ = true;
    }
    return type;
  }

  static std::string no_type(const Expression& e) {
    if (e.kind == Kind::kCall) return fmt::format("{}() returns nothing", e.text);
    return fmt::format("nothing tells whether {} is a number or a text", text_of(e));
  }

  void visit_all(Expression& e, Type wanted) {
    for (const ExpressionPtr& operand : e.operands)
      if (operand != nullptr) visit(*operand, wanted);
  }

  Type look(Expression& e, Type wanted) {
    for (const Component& c : e.components)
      if (c.index != nullptr) visit(*c.index, Type::kLong);
    switch (e.kind) {
      case Kind::kNumber:
        return Type::kLong;
      case Kind::kText:
        return Type::kString;
      case Kind::kName:
        return variable(e, wanted);
      case Kind::kElement:
        if (e.base != nullptr) return bucket(e);
        keys(e);
        return value(e, wanted);
      case Kind::kIn:
        if (e.base != nullptr) return bucket(e);
        keys(e);
        return Type::kLong;
      case Kind::kUnary:
      case Kind::kBinary:
      case Kind::kAnd:
      case Kind::kOr:
        visit_all(e, Type::kLong);
        return Type::kLong;
      case Kind::kComparison:
        same(e, 0);
        return Type::kLong;
      case Kind::kTernary:
        return ternary(e, wanted);
      case Kind::kAssign:
        return assignment(e, wanted);
      case Kind::kIncrement:
        visit_all(e, Type::kLong);
        return Type::kLong;
      case Kind::kConcat:
        visit_all(e, Type::kString);
        return Type::kString;
      case Kind::kMatch:
        visit_all(e, Type::kString);
        return Type::kLong;
      case Kind::kCall:
        return call(e, wanted);
      case Kind::kPrint:
        return print(e);
      case Kind::kStatistic:
      case Kind::kHistogram:
        visit(*e.operands[0], Type::kStats);
        return Type::kLong;
      case Kind::kTarget:
        return is_pretty(e) || e.text.starts_with("$$") ? Type::kString : Type::kLong;
      case Kind::kCast:
      case Kind::kAutocast:
        visit_all(e, Type::kLong);
        return is_pretty(e) ? Type::kString : Type::kLong;
      case Kind::kVar:
        return is_pretty(e) ? Type::kString : Type::kLong;
      case Kind::kDefined:
        return Type::kLong;
      case Kind::kEntry:
        return visit(*e.operands[0], wanted);
      case Kind::kEnumName:
        visit_all(e, Type::kLong);
        return Type::kString;
      default:
        visit_all(e, Type::kLong);
        return Type::kLong;
    }
  }

  static bool is_pretty(const Expression& e) {
    return !e.components.empty() && e.components.back().kind == Component::Kind::kPretty;
  }

  Type variable(Expression& e, Type wanted) {
    Variable& v = *e.variable;
    if (v.arity.value_or(0) != 0) {
      fail(e.spot, fmt::format("{} is an array: an element of it is {}[...]", v.name, v.name));
      return Type::kUnknown;
    }
    if (!v.arity) v.arity = 0;
    return value(e, wanted);
  }

  Type value(Expression& e, Type wanted) {
    unify(e.spot, e.variable->type, wanted);
    return e.variable->type;
  }

  // Each key has one type.
  void keys(Expression& e) {
    Variable& v = *e.variable;
    for (size_t i = 0; i < e.operands.size(); ++i) {
      if (e.operands[i] == nullptr) continue;
      const Type type = visit(*e.operands[i], v.keys[i]);
      if (type == Type::kStats) fail(e.operands[i]->spot, "stats are no index");
      unify(e.operands[i]->spot, v.keys[i], type);
    }
  }

  Type bucket(Expression& e) {
    visit(*e.base, Type::kLong);
    visit_all(e, Type::kLong);
    return Type::kLong;
  }

  // The operands from `first` on have one type, a number or a text.
  Type same(Expression& e, size_t first, Type type = Type::kUnknown) {
    const bool was_last = is_last_;
    is_last_ = false;
    for (int round = 0; round < 2; ++round) {
      for (size_t i = first; i < e.operands.size(); ++i) {
        const Type found = visit(*e.operands[i], type);
        if (found == Type::kStats)
          fail(e.operands[i]->spot, "this is a number or a text only by @count, @sum and the like");
        if (type == Type::kUnknown) type = found;
      }
      is_last_ = was_last;
    }
    return type;
  }

  Type ternary(Expression& e, Type wanted) {
    visit(*e.operands[0], Type::kLong);
    return same(e, 1, wanted);
  }

  Type assignment(Expression& e, Type wanted) {
    Expression& left = *e.operands[0];
    Expression& right = *e.operands[1];
    if (e.text == "<<<") {
      visit(left, Type::kStats);
      visit(right, Type::kLong);
      return Type::kLong;
    }
    if (e.text != "=" && e.text != ".=") wanted = Type::kLong;
    if (e.text == ".=") wanted = Type::kString;
    if (left.variable != nullptr && left.variable->type == Type::kStats)
      fail(left.spot, fmt::format("{} has stats, to which <<< adds: it is not set", left.text));
    return same(e, 0, wanted);
  }

  Type call(Expression& e, Type wanted) {
    Type result = wanted;
    for (Function* f : e.functions) {
      for (size_t i = 0; i < e.operands.size(); ++i) {
        Variable& parameter = *f->parameters[i];
        const Type type = visit(*e.operands[i], parameter.type);
        if (type == Type::kStats) fail(e.operands[i]->spot, "stats are no argument of a function");
        unify(e.operands[i]->spot, parameter.type, type);
      }
      if (f->builtin == nullptr) unify(e.spot, f->type, result);
      if (f->type != Type::kUnknown) result = f->type;
    }
    return result_of(e);
  }

  // Of functions of one name some may have no result, because they hand on to the next.
  static Type result_of(const Expression& e) {
    for (const Function* f : e.functions)
      if (f->type != Type::kUnknown) return f->type;
    return Type::kUnknown;
  }

  Type print(Expression& e) {
    const PrintKind& kind = *find_print(e.text);
    if (e.base != nullptr) {
      visit(*e.base, Type::kLong);
    } else if (kind.has_format) {
      formatted(e);
    } else {
      for (const ExpressionPtr& operand : e.operands) {
        const Type type = visit(*operand, kind.is_char ? Type::kLong : Type::kUnknown);
        if (type == Type::kStats)
          fail(operand->spot, "stats are printed by @count, @sum, @hist_log and the like");
      }
    }
    return kind.is_text ? Type::kString : Type::kLong;
  }

  void formatted(Expression& e) {
    const auto directives = parse_format(e.format);
    size_t next = 0;
    const auto take = [&](Type type) {
      if (next < e.operands.size()) visit(*e.operands[next], type);
      ++next;
    };
    for (const Directive& d : *directives) {
      if (d.takes_width) take(Type::kLong);
      if (d.takes_precision) take(Type::kLong);
      if (d.kind == Directive::Kind::kLiteral) continue;
      take(d.kind == Directive::Kind::kText ? Type::kString : Type::kLong);
    }
    if (next != e.operands.size())
      fail(e.spot, fmt::format("the format takes {} value{}, and {} {} given", next, next == 1 ? "" : "s",
                               e.operands.size(), e.operands.size() == 1 ? "is" : "are"));
  }

  void visit(Statement& s) {
    if (error_) return;
    switch (s.kind) {
      case S::kExpression:
        visit_ignored(*s.value);
        break;
      case S::kIf:
        visit(*s.value, Type::kLong);
        break;
      case S::kFor:
        if (s.init != nullptr) visit_ignored(*s.init);
        if (s.value != nullptr) visit(*s.value, Type::kLong);
        if (s.step != nullptr) visit_ignored(*s.step);
        break;
      case S::kForeach:
        loop(*s.foreach);
        break;
      case S::kReturn:
        if (s.value != nullptr) returned(s);
        break;
      case S::kDelete:
        deletion(*s.value);
        break;
      case S::kTry:
        if (s.init != nullptr) visit(*s.init, Type::kString);
        break;
      default:
        break;
    }
    for (const StatementPtr& child : s.body) visit(*child);
  }

  // Its value is not looked at: a function may have none.
  void visit_ignored(Expression& e) {
    if (e.kind != Kind::kCall) {
      visit(e, Type::kUnknown);
      return;
    }
    call(e, Type::kUnknown);
    e.type = result_of(e);
  }

  void returned(Statement& s) {
    const Type type = visit(*s.value, function_->type);
    if (type == Type::kStats) fail(s.value->spot, "a function returns no stats");
    unify(s.value->spot, function_->type, type);
  }

  void deletion(Expression& e) {
    if (e.kind == Kind::kElement) {
      keys(e);
      e.type = e.variable->type;
      return;
    }
    e.type = e.variable->type;
  }

  void loop(Foreach& f) {
    if (f.histogram != nullptr) {
      visit(*f.histogram, Type::kLong);
      visit(*f.keys[0], Type::kLong);
      if (f.value != nullptr) visit(*f.value, Type::kLong);
    } else {
      loop_keys(f);
    }
    if (f.limit != nullptr) visit(*f.limit, Type::kLong);
  }

  void loop_keys(Foreach& f) {
    Variable& v = *f.variable;
    for (size_t i = 0; i < f.keys.size(); ++i) {
      unify(f.keys[i]->spot, v.keys[i], visit(*f.keys[i], v.keys[i]));
      if (i < f.slice.size() && f.slice[i] != nullptr)
        unify(f.slice[i]->spot, v.keys[i], visit(*f.slice[i], v.keys[i]));
    }
    if (!f.statistic.empty()) unify(f.array_spot, v.type, Type::kStats);
    if (f.value == nullptr) return;
    if (v.type == Type::kStats)
      return fail(f.value->spot,
                  fmt::format("{} has stats, which are no value: @count({}[...]) is one", v.name, v.name));
    unify(f.value->spot, v.type, visit(*f.value, v.type));
  }

  Status check_globals() {
    for (Variable* v : module_.all_globals)
      if (v->wraps && v->arity.value_or(0) == 0 && v->type != Type::kUnknown)
        return error_at(v->spot, fmt::format("{} is no array: a % has no meaning", v->name));
    return {};
  }

  Module& module_;
  Function* function_ = nullptr;
  bool is_changed_ = false, is_last_ = false;
  std::optional<Error> error_;
};

}  // namespace

Status infer_types(Module& module) { return Inference(module).run(); }

}  // namespace blip::stap
