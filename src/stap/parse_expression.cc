// SPDX-License-Identifier: MIT
// Operators, from those that bind least: = ? || && | ^ & in < << . + * ! ++
#include "stap/parse_tokens.h"

namespace blip::stap {

namespace {

using Kind = Expression::Kind;
using Parse = Result<ExpressionPtr> (*)(Tokens&);

std::vector<ExpressionPtr> list(ExpressionPtr a, ExpressionPtr b = nullptr) {
  std::vector<ExpressionPtr> result;
  result.push_back(std::move(a));
  if (b != nullptr) result.push_back(std::move(b));
  return result;
}

// Operands of `next` with any of the signs between them, from the left.
Result<ExpressionPtr> parse_chain(Tokens& tokens, Kind kind, Parse next,
                                  std::initializer_list<std::string_view> signs) {
  TRY(ExpressionPtr left, next(tokens));
  while (tokens.is_any_sign(signs)) {
    auto e = make_expression(kind, tokens.take());
    TRY(ExpressionPtr right, next(tokens));
    TRY(left, add_operands(std::move(e), list(std::move(left), std::move(right))));
  }
  return left;
}

Result<ExpressionPtr> parse_increment(Tokens& tokens) {
  if (tokens.is_any_sign({"++", "--"})) {
    auto e = make_expression(Kind::kIncrement, tokens.take());
    e->is_prefix = true;
    TRY(ExpressionPtr operand, parse_target_value(tokens));
    return add_operands(std::move(e), list(std::move(operand)));
  }
  TRY(ExpressionPtr operand, parse_target_value(tokens));
  if (!tokens.is_any_sign({"++", "--"})) return operand;
  auto e = make_expression(Kind::kIncrement, tokens.take());
  return add_operands(std::move(e), list(std::move(operand)));
}

Result<ExpressionPtr> parse_unary(Tokens& tokens) {
  const Level level(tokens);
  TRY_OK(level.check());
  if (!tokens.is_any_sign({"+", "-", "!", "~"})) return parse_increment(tokens);
  auto e = make_expression(Kind::kUnary, tokens.take());
  TRY(ExpressionPtr operand, parse_unary(tokens));
  return add_operands(std::move(e), list(std::move(operand)));
}

Result<ExpressionPtr> parse_product(Tokens& tokens) {
  return parse_chain(tokens, Kind::kBinary, parse_unary, {"*", "/", "%"});
}

Result<ExpressionPtr> parse_sum(Tokens& tokens) {
  return parse_chain(tokens, Kind::kBinary, parse_product, {"+", "-"});
}

Result<ExpressionPtr> parse_concatenation(Tokens& tokens) {
  return parse_chain(tokens, Kind::kConcat, parse_sum, {"."});
}

Result<ExpressionPtr> parse_shift(Tokens& tokens) {
  return parse_chain(tokens, Kind::kBinary, parse_concatenation, {"<<", ">>", ">>>"});
}

Result<ExpressionPtr> parse_comparison(Tokens& tokens) {
  TRY(ExpressionPtr left, parse_shift(tokens));
  if (tokens.is_any_sign({"=~", "!~"})) {
    auto e = make_expression(Kind::kMatch, tokens.take());
    if (tokens.peek().kind != TokenKind::kText)
      return tokens.error("a regular expression in quotes is expected here");
    TRY(ExpressionPtr right, parse_literal(tokens));
    return add_operands(std::move(e), list(std::move(left), std::move(right)));
  }
  while (tokens.is_any_sign({"<", ">", "==", "!=", "<=", ">="})) {
    auto e = make_expression(Kind::kComparison, tokens.take());
    TRY(ExpressionPtr right, parse_shift(tokens));
    TRY(left, add_operands(std::move(e), list(std::move(left), std::move(right))));
  }
  return left;
}

// [a, *] in array, or a comparison.
Result<ExpressionPtr> parse_in(Tokens& tokens) {
  std::vector<ExpressionPtr> keys;
  const Spot open = tokens.peek().spot;
  if (tokens.accept("[")) {
    for (;;) {
      ExpressionPtr key;
      if (!tokens.accept("*")) {
        TRY(key, parse_comparison(tokens));
      }
      keys.push_back(std::move(key));
      if (tokens.accept("]")) break;
      if (!tokens.accept(",")) return tokens.error("a ',' or ']' is missing here");
    }
  } else {
    TRY(ExpressionPtr key, parse_comparison(tokens));
    keys.push_back(std::move(key));
  }
  if (tokens.peek().is_keyword("in")) {
    auto e = make_expression(Kind::kIn, tokens.take());
    TRY(ExpressionPtr array, parse_array(tokens));
    e->text = array->text;
    if (array->kind == Kind::kHistogram) e->base = std::move(array);
    return add_operands(std::move(e), std::move(keys));
  }
  if (keys.size() == 1 && keys[0] != nullptr) return std::move(keys[0]);
  return error_at(open, "a list of keys is only part of [KEYS] in ARRAY");
}

Result<ExpressionPtr> parse_and(Tokens& tokens) {
  return parse_chain(tokens, Kind::kBinary, parse_in, {"&"});
}
Result<ExpressionPtr> parse_xor(Tokens& tokens) {
  return parse_chain(tokens, Kind::kBinary, parse_and, {"^"});
}
Result<ExpressionPtr> parse_or(Tokens& tokens) {
  return parse_chain(tokens, Kind::kBinary, parse_xor, {"|"});
}
Result<ExpressionPtr> parse_logical_and(Tokens& tokens) {
  return parse_chain(tokens, Kind::kAnd, parse_or, {"&&"});
}
Result<ExpressionPtr> parse_logical_or(Tokens& tokens) {
  return parse_chain(tokens, Kind::kOr, parse_logical_and, {"||"});
}

Result<ExpressionPtr> parse_ternary(Tokens& tokens) {
  const Level level(tokens);
  TRY_OK(level.check());
  TRY(ExpressionPtr condition, parse_logical_or(tokens));
  if (!tokens.is_sign("?")) return condition;
  auto e = make_expression(Kind::kTernary, tokens.take());
  TRY(ExpressionPtr yes, parse_expression(tokens));
  TRY_OK(tokens.expect(":"));
  TRY(ExpressionPtr no, parse_ternary(tokens));
  auto operands = list(std::move(condition), std::move(yes));
  operands.push_back(std::move(no));
  return add_operands(std::move(e), std::move(operands));
}

}  // namespace

Result<ExpressionPtr> parse_expression(Tokens& tokens) {
  const Level level(tokens);
  TRY_OK(level.check());
  TRY(ExpressionPtr left, parse_ternary(tokens));
  if (!tokens.is_any_sign({"=", "<<<", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "^=", "|=", ".="}))
    return left;
  auto e = make_expression(Kind::kAssign, tokens.take());
  TRY(ExpressionPtr right, parse_expression(tokens));
  return add_operands(std::move(e), list(std::move(left), std::move(right)));
}

Result<std::vector<ExpressionPtr>> parse_keys(Tokens& tokens) {
  std::vector<ExpressionPtr> keys;
  for (;;) {
    ExpressionPtr key;
    if (!tokens.accept("*")) {
      TRY(key, parse_expression(tokens));
    }
    keys.push_back(std::move(key));
    if (tokens.accept("]")) return keys;
    if (!tokens.accept(",")) return tokens.error("a ',' or ']' is missing here");
  }
}

}  // namespace blip::stap
