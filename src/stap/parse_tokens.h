// SPDX-License-Identifier: MIT
// Tokens one after the other, and what all parts of the parser need.
#pragma once

#include <fmt/core.h>

#include <initializer_list>

#include "base/result.h"
#include "stap/parser.h"

namespace blip::stap {

class Tokens {
 public:
  Tokens(std::vector<Token> tokens, const Settings& of) : settings(of), tokens_(std::move(tokens)) {}

  // The end comes again and again.
  const Token& peek(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  const Token& take() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  bool is_end() const { return peek().kind == TokenKind::kEnd; }
  bool is_sign(std::string_view sign) const { return peek().is_sign(sign); }
  bool is_any_sign(std::initializer_list<std::string_view> signs) const {
    for (const std::string_view sign : signs)
      if (is_sign(sign)) return true;
    return false;
  }
  bool accept(std::string_view sign) { return is_sign(sign) && (take(), true); }
  bool accept_keyword(std::string_view word) { return peek().is_keyword(word) && (take(), true); }
  Status expect(std::string_view sign) {
    if (!accept(sign)) return error(fmt::format("a '{}' is missing here", sign));
    return {};
  }

  // At the next token; what is wrong with that comes first.
  Error error(std::string_view message) const {
    return error_at(peek().spot, peek().kind == TokenKind::kJunk ? std::string_view(peek().text) : message);
  }

  // Text after text is one text.
  Result<std::string> take_text(std::string_view what);
  Result<std::string> take_name(std::string_view what);
  // With a sign before it.
  Result<int64_t> take_number();

  const Settings& settings;
  bool is_in_function = false;
  uint32_t depth = 0;  // of the statements and expressions around

 private:
  std::vector<Token> tokens_;
  size_t at_ = 0;
};

// Stands for one level of what is nested.
class Level {
 public:
  explicit Level(Tokens& tokens) : tokens_(tokens) { ++tokens_.depth; }
  ~Level() { --tokens_.depth; }
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;
  Status check() const {
    return tokens_.depth <= kMaxDepth ? Status() : Status(tokens_.error("this is nested too deep"));
  }

 private:
  Tokens& tokens_;
};

Result<ExpressionPtr> parse_expression(Tokens& tokens);
// A number or a text.
Result<ExpressionPtr> parse_literal(Tokens& tokens);
// The name of an array, or a histogram.
Result<ExpressionPtr> parse_array(Tokens& tokens);
// A value with what makes of it the target's data: $var->m[i], &$var, @cast(...)->m.
Result<ExpressionPtr> parse_target_value(Tokens& tokens);
// What begins with a name or an @word.
Result<ExpressionPtr> parse_named(Tokens& tokens);
// In brackets, whose first is taken already; null: *.
Result<std::vector<ExpressionPtr>> parse_keys(Tokens& tokens);
Result<StatementPtr> parse_block(Tokens& tokens);
Result<std::vector<ProbePoint>> parse_points(Tokens& tokens);

ExpressionPtr make_expression(Expression::Kind kind, const Token& token);
// With its operands; an error if the tree is too deep.
Result<ExpressionPtr> add_operands(ExpressionPtr e, std::vector<ExpressionPtr> operands);

}  // namespace blip::stap
