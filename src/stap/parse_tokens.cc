// SPDX-License-Identifier: MIT
#include "stap/parse_tokens.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>

namespace blip::stap {

std::optional<uint64_t> parse_number(const std::string& text) {
  char* end = nullptr;
  errno = 0;
  const uint64_t value = std::strtoull(text.c_str(), &end, 0);
  if (text.empty() || errno != 0 || *end != 0) return std::nullopt;
  return value;
}

Result<std::string> Tokens::take_text(std::string_view what) {
  if (peek().kind != TokenKind::kText) return error(what);
  std::string text;
  while (peek().kind == TokenKind::kText) text += take().text;
  return text;
}

Result<std::string> Tokens::take_name(std::string_view what) {
  if (peek().kind != TokenKind::kName) return error(what);
  return take().text;
}

Result<int64_t> Tokens::take_number() {
  const bool is_negative = accept("-");
  if (peek().kind != TokenKind::kNumber) return error("a number is expected here");
  const auto value = parse_number(peek().text);
  constexpr uint64_t kLeast = uint64_t{1} << 63;
  if (!value || (is_negative && *value > kLeast)) return error("this number is not valid, or too large");
  take();
  return static_cast<int64_t>(is_negative ? 0 - *value : *value);
}

ExpressionPtr make_expression(Expression::Kind kind, const Token& token) {
  auto e = std::make_unique<Expression>();
  e->kind = kind;
  e->spot = token.spot;
  e->text = token.text;
  return e;
}

Result<ExpressionPtr> add_operands(ExpressionPtr e, std::vector<ExpressionPtr> operands) {
  for (const ExpressionPtr& operand : operands)
    if (operand != nullptr) e->depth = std::max(e->depth, operand->depth + 1);
  e->operands = std::move(operands);
  if (e->depth > kMaxDepth) return error_at(e->spot, "this expression is nested too deep");
  return e;
}

}  // namespace blip::stap
