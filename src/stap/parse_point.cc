// SPDX-License-Identifier: MIT
// Probe points: process("a").{function("f"), function("g").return} ? if (x)
#include "stap/parse_tokens.h"

namespace blip::stap {

namespace {

constexpr size_t kMaxPoints = 1 << 12;  // that braces may make of one

Result<ProbePoint::Part> parse_part(Tokens& tokens) {
  ProbePoint::Part part{.spot = tokens.peek().spot};
  const auto is_of_name = [](const Token& t) {
    return t.kind == TokenKind::kName || t.kind == TokenKind::kKeyword || t.is_sign("*");
  };
  if (!is_of_name(tokens.peek())) return tokens.error("a probe point is expected here");
  part.name = tokens.take().text;
  while (is_of_name(tokens.peek()) && !tokens.peek().is_after_space) part.name += tokens.take().text;
  if (!tokens.accept("(")) return part;
  TRY(const ExpressionPtr literal, parse_literal(tokens));
  if (literal->kind == Expression::Kind::kText)
    part.text = literal->text;
  else
    part.number = static_cast<int64_t>(literal->number);
  TRY_OK(tokens.expect(")"));
  return part;
}

// One part, or several points in braces.
Result<std::vector<ProbePoint>> parse_parts(Tokens& tokens) {
  const Level level(tokens);
  TRY_OK(level.check());
  std::vector<ProbePoint> result;
  if (tokens.accept("{")) {
    TRY(result, parse_points(tokens));
    TRY_OK(tokens.expect("}"));
    return result;
  }
  TRY(ProbePoint::Part part, parse_part(tokens));
  result.emplace_back();
  result.back().parts.push_back(std::move(part));
  return result;
}

Status append(const Tokens& tokens, std::vector<ProbePoint>& points, const std::vector<ProbePoint>& ends) {
  std::vector<ProbePoint> result;
  if (points.size() * ends.size() > kMaxPoints) return tokens.error("these are too many probe points");
  for (const ProbePoint& point : points) {
    if (point.is_optional || point.condition != nullptr)
      return error_at(point.parts[0].spot, "?, ! and conditions stand at the end of a probe point");
    for (const ProbePoint& end : ends) {
      ProbePoint whole = end;
      whole.parts.insert(whole.parts.begin(), point.parts.begin(), point.parts.end());
      result.push_back(std::move(whole));
    }
  }
  points = std::move(result);
  return {};
}

Status parse_suffix(Tokens& tokens, std::vector<ProbePoint>& points) {
  if (tokens.is_any_sign({"?", "!"})) {
    const Token sign = tokens.take();
    for (ProbePoint& point : points) {
      if (point.is_optional) return error_at(sign.spot, "this probe point has a ? or ! already");
      point.is_optional = true;
      point.is_sufficient = sign.text == "!";
    }
  }
  if (!tokens.accept_keyword("if")) return {};
  TRY_OK(tokens.expect("("));
  const Spot spot = tokens.peek().spot;
  TRY(ExpressionPtr condition, parse_expression(tokens));
  TRY_OK(tokens.expect(")"));
  const std::shared_ptr<const Expression> shared = std::move(condition);
  for (ProbePoint& point : points) {
    if (point.condition != nullptr) return error_at(spot, "this probe point has a condition already");
    point.condition = shared;
  }
  return {};
}

Result<std::vector<ProbePoint>> parse_point(Tokens& tokens) {
  TRY(std::vector<ProbePoint> points, parse_parts(tokens));
  while (tokens.accept(".")) {
    TRY(const std::vector<ProbePoint> ends, parse_parts(tokens));
    TRY_OK(append(tokens, points, ends));
  }
  TRY_OK(parse_suffix(tokens, points));
  return points;
}

}  // namespace

Result<std::vector<ProbePoint>> parse_points(Tokens& tokens) {
  std::vector<ProbePoint> result;
  for (;;) {
    TRY(std::vector<ProbePoint> points, parse_point(tokens));
    std::move(points.begin(), points.end(), std::back_inserter(result));
    if (result.size() > kMaxPoints) return tokens.error("these are too many probe points");
    if (tokens.accept(",")) continue;
    if (tokens.is_any_sign({"{", "=", "+=", "}"})) return result;
    return tokens.error("a ',' or the '{' of the handler is missing here");
  }
}

}  // namespace blip::stap
