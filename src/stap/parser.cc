// SPDX-License-Identifier: MIT
// Declarations: probe, global, function.
#include "stap/parser.h"

#include <algorithm>

#include "stap/parse_tokens.h"
#include "stap/scanner.h"

namespace blip::stap {

namespace {

constexpr int64_t kMaxArray = INT32_MAX;

class Declarations {
 public:
  Declarations(const Source& source, std::vector<Token> tokens, const Settings& settings)
      : source_(source), tokens_(std::move(tokens), settings) {}

  Result<File> run() {
    while (!tokens_.is_end()) TRY_OK(declaration());
    return std::move(file_);
  }

 private:
  Status declaration() {
    if (tokens_.peek().is_keyword("probe")) return probe();
    if (tokens_.accept_keyword("global")) return globals(false);
    if (tokens_.peek().is_keyword("function")) return function(false);
    if (tokens_.accept_keyword("private")) {
      if (tokens_.peek().is_keyword("function")) return function(true);
      tokens_.accept_keyword("global");
      return globals(true);
    }
    if (tokens_.peek().kind == TokenKind::kEmbedded) {
      if (!tokens_.settings.is_guru) return tokens_.error("embedded C needs -g");
      return tokens_.error("blip runs no embedded C: a handler never changes the target");
    }
    return tokens_.error("'probe', 'global', 'private' or 'function' is expected here");
  }

  Status globals(bool is_private) {
    do TRY_OK(global(is_private));
    while (tokens_.accept(","));
    tokens_.accept(";");
    return {};
  }

  Status global(bool is_private) {
    auto v = std::make_unique<Variable>();
    v->is_global = true;
    v->is_private = is_private;
    v->spot = tokens_.peek().spot;
    const Spot spot = v->spot;
    TRY(v->name, tokens_.take_name("the name of a global is expected here"));
    for (const auto& other : file_.globals)
      if (other->name == v->name)
        return error_at(spot,
                        fmt::format("the global {} is there already, at {}", v->name, describe(other->spot)));
    v->wraps = tokens_.accept("%");
    if (tokens_.accept("[")) {
      const Spot at = tokens_.peek().spot;
      TRY(v->size, tokens_.take_number());
      if (*v->size <= 0 || *v->size > kMaxArray) return error_at(at, "an array has 1 to 2147483647 elements");
      TRY_OK(tokens_.expect("]"));
    }
    if (tokens_.is_sign("=")) {
      if (v->size) return tokens_.error("an array has no first value");
      tokens_.take();
      TRY(v->init, parse_literal(tokens_));
      v->arity = 0;
      v->type = v->init->kind == Expression::Kind::kText ? Type::kString : Type::kLong;
    }
    file_.globals.push_back(std::move(v));
    return {};
  }

  Result<Type> type() {
    if (tokens_.accept_keyword("string")) return Type::kString;
    if (tokens_.accept_keyword("long")) return Type::kLong;
    return tokens_.error("'string' or 'long' is expected here");
  }

  Status function(bool is_private) {
    tokens_.take();
    auto f = std::make_unique<Function>();
    f->is_private = is_private;
    const Token name = tokens_.peek();
    f->spot = name.spot;
    if (name.kind != TokenKind::kName && !name.is_keyword("string") && !name.is_keyword("long"))
      return tokens_.error("the name of a function is expected here");
    f->name = tokens_.take().text;
    if (tokens_.accept(":")) {
      TRY(f->type, type());
      f->is_typed = true;
    }
    TRY_OK(tokens_.expect("("));
    TRY_OK(parameters(*f));
    f->priority = source_.is_tapset ? 1 : 0;
    if (tokens_.accept(":")) TRY_OK(priority(*f));
    tokens_.is_in_function = true;
    if (tokens_.peek().kind == TokenKind::kEmbedded) {
      TRY(f->body, embedded());
    } else {
      TRY(f->body, parse_block(tokens_));
    }
    tokens_.is_in_function = false;
    file_.functions.push_back(std::move(f));
    return {};
  }

  Status parameters(Function& f) {
    while (!tokens_.accept(")")) {
      auto v = std::make_unique<Variable>();
      v->spot = tokens_.peek().spot;
      v->arity = 0;
      TRY(v->name, tokens_.take_name("the name of a parameter is expected here"));
      for (const auto& other : f.parameters)
        if (other->name == v->name)
          return error_at(v->spot, fmt::format("the function has two parameters {}", v->name));
      if (tokens_.accept(":")) {
        TRY(v->type, type());
      }
      f.parameters.push_back(std::move(v));
      if (!tokens_.is_sign(")")) {
        if (!tokens_.accept(",")) return tokens_.error("a ',' or ')' is missing here");
      }
    }
    return {};
  }

  Status priority(Function& f) {
    const Spot spot = tokens_.peek().spot;
    TRY(f.priority, tokens_.take_number());
    return f.priority > 0 ? Status() : Status(error_at(spot, "a priority is 1 or more"));
  }

  Result<StatementPtr> embedded() {
    if (!tokens_.settings.is_guru) return tokens_.error("embedded C needs -g");
    auto s = std::make_unique<Statement>();
    s->kind = Statement::Kind::kEmbedded;
    s->spot = tokens_.take().spot;
    return s;
  }

  Status probe() {
    const Spot spot = tokens_.take().spot;
    std::vector<ProbePoint> names, points;
    bool is_epilogue = false;
    for (;;) {
      TRY(points, parse_points(tokens_));
      if (tokens_.is_sign("{")) break;
      if (points.size() != 1 || !tokens_.is_any_sign({"=", "+="}))
        return tokens_.error("the '{' of the handler is missing here");
      if (points[0].is_optional)
        return error_at(points[0].parts[0].spot, "the name of an alias has no ? or !");
      names.push_back(std::move(points[0]));
      is_epilogue = tokens_.take().text == "+=" || is_epilogue;
    }
    TRY(StatementPtr body, parse_block(tokens_));
    if (names.empty()) {
      file_.probes.push_back({spot, std::move(points), std::move(body)});
      return {};
    }
    Alias alias{spot, std::move(names), std::move(points), is_epilogue, std::move(body), {}};
    if (tokens_.is_sign(",")) {
      if (is_epilogue) return tokens_.error("an alias that is defined by += has one body");
      tokens_.take();
      TRY(alias.epilogue, parse_block(tokens_));
    }
    file_.aliases.push_back(std::move(alias));
    return {};
  }

  const Source& source_;
  Tokens tokens_;
  File file_;
};

}  // namespace

Result<File> parse(const Source& source, const Settings& settings, const Macros& macros) {
  Macros defined;
  TRY(auto tokens, preprocess(scan(source, settings.arguments), settings, macros, defined));
  if (tokens.size() == 1 && !source.is_tapset) return error_at(tokens[0].spot, "the script is empty");
  return Declarations(source, std::move(tokens), settings).run();
}

Result<Macros> parse_macros(const Source& source, const Settings& settings) {
  Macros defined;
  TRY(const auto tokens, preprocess(scan(source, settings.arguments), settings, {}, defined));
  if (tokens.size() > 1) return error_at(tokens[0].spot, "a file of macros has nothing else");
  Macros result;
  for (const auto& [name, macro] : defined) {
    auto copy = std::make_shared<Macro>(*macro);
    copy->is_of_library = true;
    result[name] = std::move(copy);
  }
  return result;
}

}  // namespace blip::stap
