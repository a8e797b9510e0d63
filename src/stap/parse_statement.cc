// SPDX-License-Identifier: MIT
#include <algorithm>

#include "stap/parse_tokens.h"

namespace blip::stap {

namespace {

using Kind = Statement::Kind;

Result<StatementPtr> parse_statement(Tokens& tokens);

StatementPtr make_statement(Kind kind, const Token& token) {
  auto s = std::make_unique<Statement>();
  s->kind = kind;
  s->spot = token.spot;
  return s;
}

Status add_statement(Tokens& tokens, Statement& to) {
  TRY(StatementPtr s, parse_statement(tokens));
  to.body.push_back(std::move(s));
  return {};
}

Status add_block(Tokens& tokens, Statement& to) {
  TRY(StatementPtr s, parse_block(tokens));
  to.body.push_back(std::move(s));
  return {};
}

Result<StatementPtr> parse_if(Tokens& tokens) {
  auto s = make_statement(Kind::kIf, tokens.take());
  TRY_OK(tokens.expect("("));
  TRY(s->value, parse_expression(tokens));
  TRY_OK(tokens.expect(")"));
  TRY_OK(add_statement(tokens, *s));
  if (tokens.accept_keyword("else")) TRY_OK(add_statement(tokens, *s));
  return s;
}

Result<StatementPtr> parse_while(Tokens& tokens) {
  auto s = make_statement(Kind::kFor, tokens.take());
  TRY_OK(tokens.expect("("));
  TRY(s->value, parse_expression(tokens));
  TRY_OK(tokens.expect(")"));
  TRY_OK(add_statement(tokens, *s));
  return s;
}

// An expression that may be missing before the sign.
Result<ExpressionPtr> parse_up_to(Tokens& tokens, std::string_view sign) {
  if (tokens.accept(sign)) return ExpressionPtr();
  TRY(ExpressionPtr e, parse_expression(tokens));
  TRY_OK(tokens.expect(sign));
  return e;
}

Result<StatementPtr> parse_for(Tokens& tokens) {
  auto s = make_statement(Kind::kFor, tokens.take());
  TRY_OK(tokens.expect("("));
  TRY(s->init, parse_up_to(tokens, ";"));
  TRY(s->value, parse_up_to(tokens, ";"));
  TRY(s->step, parse_up_to(tokens, ")"));
  TRY_OK(add_statement(tokens, *s));
  return s;
}

// The + or - behind what sorts.
Status parse_direction(Tokens& tokens, Foreach& f, uint32_t column) {
  if (!tokens.is_any_sign({"+", "-"})) return {};
  if (f.direction != 0) return tokens.error("a loop is sorted by one thing only");
  f.direction = tokens.take().text == "+" ? 1 : -1;
  f.column = column;
  return {};
}

Result<ExpressionPtr> parse_loop_name(Tokens& tokens) {
  if (tokens.peek().kind != TokenKind::kName) return tokens.error("the name of a variable is expected here");
  return make_expression(Expression::Kind::kName, tokens.take());
}

Status parse_loop_keys(Tokens& tokens, Foreach& f) {
  if (!tokens.accept("[")) {
    TRY(ExpressionPtr key, parse_loop_name(tokens));
    f.keys.push_back(std::move(key));
    return parse_direction(tokens, f, 1);
  }
  for (;;) {
    TRY(ExpressionPtr key, parse_loop_name(tokens));
    f.keys.push_back(std::move(key));
    TRY_OK(parse_direction(tokens, f, static_cast<uint32_t>(f.keys.size())));
    if (tokens.accept("]")) return {};
    if (!tokens.accept(",")) return tokens.error("a ',' or ']' is missing here");
  }
}

// key, value = key, [key, key], value = [key, key]
Status parse_loop_names(Tokens& tokens, Foreach& f) {
  if (tokens.is_sign("[")) return parse_loop_keys(tokens, f);
  TRY(ExpressionPtr first, parse_loop_name(tokens));
  TRY_OK(parse_direction(tokens, f, 1));
  if (tokens.accept("=")) {
    f.value = std::move(first);
    f.column = 0;
    return parse_loop_keys(tokens, f);
  }
  f.keys.push_back(std::move(first));
  return {};
}

Status parse_loop_array(Tokens& tokens, Foreach& f) {
  f.array_spot = tokens.peek().spot;
  TRY(ExpressionPtr array, parse_array(tokens));
  f.array = array->text;
  if (array->kind == Expression::Kind::kHistogram) f.histogram = std::move(array);
  if (!tokens.accept("[")) return {};
  f.has_slice = true;
  TRY(f.slice, parse_keys(tokens));
  return {};
}

Status parse_loop_order(Tokens& tokens, Foreach& f) {
  constexpr std::string_view kStatistics[] = {"@avg", "@min", "@max", "@count", "@sum", "@variance"};
  if (tokens.peek().is_at_word()) {
    if (std::find(std::begin(kStatistics), std::end(kStatistics), tokens.peek().text) ==
        std::end(kStatistics))
      return tokens.error("@count, @sum, @min, @max, @avg or @variance is expected here");
    f.statistic = tokens.take().text;
    if (!tokens.is_any_sign({"+", "-"})) return tokens.error("a + or - is missing here");
  }
  TRY_OK(parse_direction(tokens, f, 0));
  if (!tokens.accept_keyword("limit")) return {};
  TRY(f.limit, parse_expression(tokens));
  return {};
}

Result<StatementPtr> parse_foreach(Tokens& tokens) {
  auto s = make_statement(Kind::kForeach, tokens.take());
  s->foreach = std::make_unique<Foreach>();
  TRY_OK(tokens.expect("("));
  TRY_OK(parse_loop_names(tokens, *s->foreach));
  if (!tokens.accept_keyword("in")) return tokens.error("an 'in' is missing here");
  TRY_OK(parse_loop_array(tokens, *s->foreach));
  TRY_OK(parse_loop_order(tokens, *s->foreach));
  TRY_OK(tokens.expect(")"));
  TRY_OK(add_statement(tokens, *s));
  return s;
}

Result<StatementPtr> parse_try(Tokens& tokens) {
  auto s = make_statement(Kind::kTry, tokens.take());
  TRY_OK(add_block(tokens, *s));
  if (!tokens.accept_keyword("catch")) return tokens.error("a 'catch' is missing here");
  if (tokens.accept("(")) {
    TRY(s->init, parse_loop_name(tokens));
    TRY_OK(tokens.expect(")"));
  }
  TRY_OK(add_block(tokens, *s));
  return s;
}

Result<StatementPtr> parse_return(Tokens& tokens) {
  if (!tokens.is_in_function)
    return tokens.error("only a function has a 'return': 'next' ends a probe's handler");
  auto s = make_statement(Kind::kReturn, tokens.take());
  if (tokens.is_any_sign({";", "}"})) return s;
  TRY(s->value, parse_expression(tokens));
  return s;
}

Result<StatementPtr> parse_delete(Tokens& tokens) {
  auto s = make_statement(Kind::kDelete, tokens.take());
  TRY(s->value, parse_expression(tokens));
  return s;
}

Result<StatementPtr> parse_expression_statement(Tokens& tokens) {
  auto s = make_statement(Kind::kExpression, tokens.peek());
  TRY(s->value, parse_expression(tokens));
  return s;
}

template <Kind kind>
Result<StatementPtr> parse_word(Tokens& tokens) {
  return make_statement(kind, tokens.take());
}

struct Row {
  std::string_view word;
  Result<StatementPtr> (*parse)(Tokens&);
};
constexpr Row kRows[] = {
    {"break", parse_word<Kind::kBreak>},
    {"continue", parse_word<Kind::kContinue>},
    {"delete", parse_delete},
    {"for", parse_for},
    {"foreach", parse_foreach},
    {"if", parse_if},
    {"next", parse_word<Kind::kNext>},
    {"return", parse_return},
    {"try", parse_try},
    {"while", parse_while},
};

bool is_simple(Kind kind) {
  return kind != Kind::kBlock && kind != Kind::kIf && kind != Kind::kFor && kind != Kind::kForeach &&
         kind != Kind::kTry;
}

bool begins_expression(const Token& token) {
  switch (token.kind) {
    case TokenKind::kSign:
    case TokenKind::kName:
    case TokenKind::kNumber:
    case TokenKind::kText:
    case TokenKind::kEmbedded:
      return !token.is_sign("}");
    default:
      return false;
  }
}

Result<StatementPtr> parse_any(Tokens& tokens) {
  const Token& token = tokens.peek();
  if (token.is_sign("{")) return parse_block(tokens);
  for (const Row& row : kRows)
    if (token.is_keyword(row.word)) return row.parse(tokens);
  if (begins_expression(token)) return parse_expression_statement(tokens);
  return tokens.error("a statement is expected here");
}

Result<StatementPtr> parse_statement(Tokens& tokens) {
  const Level level(tokens);
  TRY_OK(level.check());
  if (tokens.is_sign(";")) return make_statement(Kind::kEmpty, tokens.take());
  TRY(StatementPtr s, parse_any(tokens));
  if (is_simple(s->kind)) tokens.accept(";");
  return s;
}

}  // namespace

Result<StatementPtr> parse_block(Tokens& tokens) {
  const Level level(tokens);
  TRY_OK(level.check());
  if (!tokens.is_sign("{")) return tokens.error("a '{' is missing here");
  auto block = make_statement(Kind::kBlock, tokens.take());
  while (!tokens.accept("}")) {
    if (tokens.is_end()) return tokens.error("the '}' that ends a block is missing here");
    TRY_OK(add_statement(tokens, *block));
  }
  return block;
}

}  // namespace blip::stap
