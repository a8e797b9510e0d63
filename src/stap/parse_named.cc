// SPDX-License-Identifier: MIT
// Values: numbers, texts, names, calls, and all that begins with an @.
#include <algorithm>
#include <array>

#include "stap/format.h"
#include "stap/parse_tokens.h"

namespace blip::stap {

namespace {

using Kind = Expression::Kind;

bool is_histogram(const Token& token) { return token.is_sign("@hist_log") || token.is_sign("@hist_linear"); }

bool is_statistic(std::string_view word) {
  constexpr std::string_view kAll[] = {"@avg", "@count", "@max", "@min", "@sum", "@variance"};
  return std::find(std::begin(kAll), std::end(kAll), word) != std::end(kAll);
}

Result<ExpressionPtr> one_operand(Tokens& tokens, ExpressionPtr e) {
  TRY(ExpressionPtr operand, parse_expression(tokens));
  std::vector<ExpressionPtr> operands;
  operands.push_back(std::move(operand));
  return add_operands(std::move(e), std::move(operands));
}

Result<ExpressionPtr> parse_histogram(Tokens& tokens) {
  auto e = make_expression(Kind::kHistogram, tokens.take());
  TRY_OK(tokens.expect("("));
  TRY(e, one_operand(tokens, std::move(e)));
  constexpr size_t kLinear = 3;  // low, high, step
  for (size_t i = 0; e->text == "@hist_linear" && i < kLinear; ++i) {
    TRY_OK(tokens.expect(","));
    TRY(const int64_t number, tokens.take_number());
    e->numbers.push_back(number);
  }
  TRY_OK(tokens.expect(")"));
  return e;
}

Result<ExpressionPtr> parse_statistic(Tokens& tokens) {
  auto e = make_expression(Kind::kStatistic, tokens.take());
  TRY_OK(tokens.expect("("));
  TRY(e, one_operand(tokens, std::move(e)));
  if (e->text == "@variance" && tokens.accept(",")) {
    TRY(const int64_t number, tokens.take_number());
    e->numbers.push_back(number);
  }
  TRY_OK(tokens.expect(")"));
  return e;
}

// The arguments behind the "(" up to the ")".
Result<std::vector<ExpressionPtr>> parse_arguments(Tokens& tokens) {
  std::vector<ExpressionPtr> result;
  if (tokens.accept(")")) return result;
  for (;;) {
    TRY(ExpressionPtr argument, parse_expression(tokens));
    result.push_back(std::move(argument));
    if (tokens.accept(")")) return result;
    if (!tokens.accept(",")) return tokens.error("a ',' or ')' is missing here");
  }
}

// print(@hist_log(x)) prints the drawing, print(@hist_log(x)[0]) a number.
Result<ExpressionPtr> parse_print_of_histogram(Tokens& tokens, ExpressionPtr e) {
  const Token word = tokens.peek();
  TRY(ExpressionPtr histogram, parse_histogram(tokens));
  if (!tokens.accept("[")) {
    e->base = std::move(histogram);
    TRY_OK(tokens.expect(")"));
    return e;
  }
  auto element = make_expression(Kind::kElement, word);
  element->base = std::move(histogram);
  TRY(auto keys, parse_keys(tokens));
  TRY(element, add_operands(std::move(element), std::move(keys)));
  std::vector<ExpressionPtr> operands;
  operands.push_back(std::move(element));
  if (tokens.accept(",")) {
    TRY(auto more, parse_arguments(tokens));
    std::move(more.begin(), more.end(), std::back_inserter(operands));
  } else {
    TRY_OK(tokens.expect(")"));
  }
  return add_operands(std::move(e), std::move(operands));
}

// The tokens are at the "(".
Result<ExpressionPtr> parse_print(Tokens& tokens, ExpressionPtr e, const PrintKind& kind) {
  TRY_OK(tokens.expect("("));
  if (kind.takes_histogram() && is_histogram(tokens.peek()))
    return parse_print_of_histogram(tokens, std::move(e));
  size_t least = kind.has_delimiter ? 2 : !kind.has_format && !kind.has_newline ? 1 : 0;
  if (kind.has_format || kind.has_delimiter) {
    const Spot spot = tokens.peek().spot;
    TRY(e->format, tokens.take_text("a text in quotes is expected here"));
    if (kind.has_format) TRY_OK(check_format(e->format, spot));
    if (!tokens.accept(",")) {
      if (least > 0) return tokens.error("a ',' is missing here");
      TRY_OK(tokens.expect(")"));
      return e;
    }
    least = std::max<size_t>(least, 1);
  }
  const Spot spot = tokens.peek().spot;
  TRY(auto arguments, parse_arguments(tokens));
  if (arguments.size() < least) return error_at(spot, fmt::format("{}() prints at least {}", e->text, least));
  return add_operands(std::move(e), std::move(arguments));
}

// @defined(X), @entry(X)
Result<ExpressionPtr> parse_wrapped(Tokens& tokens, Kind kind) {
  auto e = make_expression(kind, tokens.take());
  TRY_OK(tokens.expect("("));
  TRY(e, one_operand(tokens, std::move(e)));
  TRY_OK(tokens.expect(")"));
  return e;
}

// @perf("x"), @enum("x")
Result<ExpressionPtr> parse_of_text(Tokens& tokens, Kind kind) {
  auto e = make_expression(kind, tokens.take());
  TRY_OK(tokens.expect("("));
  const Token text = tokens.peek();
  TRY(e->format, tokens.take_text("a text in quotes is expected here"));
  if (e->format.empty()) return error_at(text.spot, "this text may not be empty");
  TRY_OK(tokens.expect(")"));
  return e;
}

// @cast(X, "type", "module"), @enumname(X, "type", "module")
Result<ExpressionPtr> parse_typed(Tokens& tokens, Kind kind) {
  auto e = make_expression(kind, tokens.take());
  TRY_OK(tokens.expect("("));
  TRY(e, one_operand(tokens, std::move(e)));
  const bool needs_type = kind == Kind::kCast;
  if (needs_type && !tokens.is_sign(",")) return tokens.error("a ',' and the type are missing here");
  if (tokens.accept(",")) {
    const Token text = tokens.peek();
    TRY(e->format, tokens.take_text("a type in quotes is expected here"));
    if (e->format.empty()) return error_at(text.spot, "a type may not be empty");
    if (tokens.accept(",")) {
      TRY(e->module, tokens.take_text("a module in quotes is expected here"));
    }
  }
  TRY_OK(tokens.expect(")"));
  return e;
}

Result<ExpressionPtr> parse_var(Tokens& tokens) {
  auto e = make_expression(Kind::kVar, tokens.take());
  TRY_OK(tokens.expect("("));
  TRY(e->format, tokens.take_text("the name of a variable in quotes is expected here"));
  if (tokens.accept(",")) {
    TRY(e->module, tokens.take_text("a module in quotes is expected here"));
  }
  TRY_OK(tokens.expect(")"));
  return e;
}

Result<ExpressionPtr> parse_register(Tokens& tokens, Kind kind) {
  auto e = make_expression(kind, tokens.take());
  e->is_of_kernel = e->text[1] == 'k';
  if (e->is_of_kernel && !tokens.settings.is_guru)
    return error_at(e->spot, fmt::format("{}() looks at the kernel: blip sees user space only", e->text));
  TRY_OK(tokens.expect("("));
  TRY(const int64_t number, tokens.take_number());
  e->number = static_cast<uint64_t>(number);
  if (kind == Kind::kDeref) {
    TRY_OK(tokens.expect(","));
    TRY(e, one_operand(tokens, std::move(e)));
  }
  TRY_OK(tokens.expect(")"));
  return e;
}

Result<ExpressionPtr> parse_probewrite(Tokens& tokens) {
  auto e = make_expression(Kind::kProbeWrite, tokens.take());
  TRY_OK(tokens.expect("("));
  TRY(e->format, tokens.take_name("a name is expected here"));
  TRY_OK(tokens.expect(")"));
  return e;
}

Result<ExpressionPtr> parse_at_word(Tokens& tokens) {
  const Token& word = tokens.peek();
  if (is_statistic(word.text)) return parse_statistic(tokens);
  if (word.text == "@defined") return parse_wrapped(tokens, Kind::kDefined);
  if (word.text == "@entry") return parse_wrapped(tokens, Kind::kEntry);
  if (word.text == "@perf") return parse_of_text(tokens, Kind::kPerf);
  if (word.text == "@enum") return parse_of_text(tokens, Kind::kEnum);
  if (word.text == "@enumname") return parse_typed(tokens, Kind::kEnumName);
  if (word.text == "@kregister" || word.text == "@uregister") return parse_register(tokens, Kind::kRegister);
  if (word.text == "@kderef" || word.text == "@uderef") return parse_register(tokens, Kind::kDeref);
  if (word.text == "@probewrite") return parse_probewrite(tokens);
  if (word.text == "@const") {
    if (!tokens.settings.is_guru) return tokens.error("@const() is embedded C, which needs -g");
    return parse_of_text(tokens, Kind::kEmbedded);
  }
  return tokens.error(fmt::format("there is no macro or operator {}", word.text));
}

Result<ExpressionPtr> parse_element(Tokens& tokens, ExpressionPtr e) {
  e->kind = Kind::kElement;
  TRY(auto keys, parse_keys(tokens));
  return add_operands(std::move(e), std::move(keys));
}

}  // namespace

Result<ExpressionPtr> parse_array(Tokens& tokens) {
  if (is_histogram(tokens.peek())) return parse_histogram(tokens);
  if (tokens.peek().kind != TokenKind::kName) return tokens.error("the name of an array is expected here");
  return make_expression(Kind::kName, tokens.take());
}

Result<ExpressionPtr> parse_named(Tokens& tokens) {
  if (is_histogram(tokens.peek())) {
    const Token word = tokens.peek();
    TRY(ExpressionPtr histogram, parse_histogram(tokens));
    if (!tokens.accept("["))
      return error_at(word.spot,
                      fmt::format("{} is no value: print() draws it, and {}(x)[N] is one of its buckets",
                                  word.text, word.text));
    auto e = make_expression(Kind::kElement, word);
    e->base = std::move(histogram);
    return parse_element(tokens, std::move(e));
  }
  if (tokens.peek().is_at_word()) return parse_at_word(tokens);
  auto e = make_expression(Kind::kName, tokens.take());
  if (const PrintKind* kind = find_print(e->text)) {
    e->kind = Kind::kPrint;
    return parse_print(tokens, std::move(e), *kind);
  }
  if (tokens.accept("(")) {
    e->kind = Kind::kCall;
    TRY(auto arguments, parse_arguments(tokens));
    return add_operands(std::move(e), std::move(arguments));
  }
  if (tokens.accept("[")) return parse_element(tokens, std::move(e));
  return e;
}

Result<ExpressionPtr> parse_literal(Tokens& tokens) {
  const Token first = tokens.peek();
  if (first.kind == TokenKind::kText) {
    auto e = make_expression(Kind::kText, first);
    TRY(e->text, tokens.take_text(""));
    return e;
  }
  if (first.kind != TokenKind::kNumber && !first.is_sign("-"))
    return tokens.error("a value is expected here");
  auto e = make_expression(Kind::kNumber, first);
  TRY(const int64_t number, tokens.take_number());
  e->number = static_cast<uint64_t>(number);
  return e;
}

namespace {

Result<ExpressionPtr> parse_plain_value(Tokens& tokens) {
  const Token& token = tokens.peek();
  if (token.kind == TokenKind::kEmbedded) {
    if (!tokens.settings.is_guru) return tokens.error("embedded C needs -g");
    return make_expression(Kind::kEmbedded, tokens.take());
  }
  if (tokens.accept("(")) {
    TRY(ExpressionPtr e, parse_expression(tokens));
    TRY_OK(tokens.expect(")"));
    return e;
  }
  if (token.kind == TokenKind::kName || token.is_at_word()) return parse_named(tokens);
  return parse_literal(tokens);
}

bool is_dollars(const Token& token) {
  return token.kind == TokenKind::kName && token.text.find_first_not_of('$') == std::string::npos;
}

bool is_component(const Tokens& tokens) {
  return tokens.is_any_sign({"->", "["}) || is_dollars(tokens.peek());
}

// Takes the $ signs that end a name.
std::string take_dollars(std::string& name) {
  const size_t end = name.find_last_not_of('$') + 1;  // npos + 1 is 0
  std::string dollars = name.substr(end);
  name.resize(end);
  return dollars;
}

Result<Component> parse_index(Tokens& tokens) {
  Component c{.kind = Component::Kind::kIndex, .spot = tokens.take().spot};
  TRY(c.index, parse_expression(tokens));
  TRY_OK(tokens.expect("]"));
  return c;
}

void add_pretty(Expression& e, std::string dollars, const Spot& spot) {
  e.components.push_back({.kind = Component::Kind::kPretty, .text = std::move(dollars), .spot = spot});
}

// True: this was the last one.
Result<bool> parse_member(Tokens& tokens, Expression& e) {
  const Spot arrow = tokens.take().spot;
  const Token name = tokens.peek();
  if (name.kind != TokenKind::kName && name.kind != TokenKind::kKeyword)
    return tokens.error("the name of a member is expected here");
  tokens.take();
  std::string member = name.text;
  const std::string dollars = take_dollars(member);
  if (!member.empty()) e.components.push_back({.text = member, .spot = name.spot});
  if (!dollars.empty()) add_pretty(e, dollars, arrow);
  return !dollars.empty();
}

Status parse_components(Tokens& tokens, Expression& e) {
  bool is_pretty = false;
  if (e.kind == Kind::kTarget && e.text.find_last_not_of('$') != std::string::npos &&
      e.text.find_last_not_of('$') > 0) {
    const std::string dollars = take_dollars(e.text);
    is_pretty = !dollars.empty();
    if (is_pretty) add_pretty(e, dollars, e.spot);
  }
  while (!is_pretty) {
    if (tokens.is_sign("->")) {
      TRY(is_pretty, parse_member(tokens, e));
    } else if (tokens.is_sign("[")) {
      TRY(Component c, parse_index(tokens));
      e.components.push_back(std::move(c));
    } else if (is_dollars(tokens.peek())) {
      add_pretty(e, tokens.peek().text, tokens.peek().spot);
      tokens.take();
      is_pretty = true;
    } else {
      break;
    }
    if (e.components.size() > kMaxDepth) return error_at(e.spot, "this has too many members");
  }
  if (is_pretty && tokens.is_any_sign({"->", "["}))
    return tokens.error("a value that $ has made a text of has no members");
  return {};
}

}  // namespace

Result<ExpressionPtr> parse_target_value(Tokens& tokens) {
  const Token first = tokens.peek();
  const bool is_address = tokens.accept("&");
  const Token token = tokens.peek();
  ExpressionPtr e;
  bool is_target = true;
  if (token.kind == TokenKind::kName && token.text[0] == '$') {
    e = make_expression(Kind::kTarget, tokens.take());
  } else if (token.is_sign("@cast")) {
    TRY(e, parse_typed(tokens, Kind::kCast));
  } else if (token.is_sign("@var")) {
    TRY(e, parse_var(tokens));
  } else {
    TRY(e, parse_plain_value(tokens));
    if (is_address && e->is_address) return error_at(first.spot, "the address of an address is none");
    is_target = false;
  }
  if (!is_target && (is_address || is_component(tokens))) {
    auto cast = make_expression(Kind::kAutocast, is_address ? first : tokens.peek());
    cast->text.clear();
    std::vector<ExpressionPtr> operands;
    operands.push_back(std::move(e));
    TRY(e, add_operands(std::move(cast), std::move(operands)));
    is_target = true;
  }
  if (!is_target) return e;
  e->is_address = is_address;
  TRY_OK(parse_components(tokens, *e));
  return e;
}

}  // namespace blip::stap
