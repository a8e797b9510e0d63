// SPDX-License-Identifier: MIT
#include "script/parser.h"

#include <algorithm>
#include <span>

#include "script/type_parser.h"

namespace blip::script {

namespace {

using Kind = Expression::Kind;

// Deeper ones would need more of blip's stack than is sensible; the program's own limit is lower.
constexpr unsigned kMostNesting = 64, kMostDepth = 128;

// By how strongly they bind, the weakest first.
constexpr std::string_view kBinary[][5] = {
    {"||"},       {"&&"},     {"|"},          {"^"}, {"&"}, {"==", "!="}, {"<", "<=", ">", ">="},
    {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}};
constexpr size_t kLevels = std::size(kBinary);
constexpr std::string_view kUnary[] = {"*", "&", "-", "!", "~", "+"};

size_t level_of(const Token& token) {
  if (token.kind != TokenKind::kSign) return kLevels;
  for (size_t i = 0; i < kLevels; ++i)
    for (const std::string_view sign : kBinary[i])
      if (!sign.empty() && token.text == sign) return i;
  return kLevels;
}

class Parser {
 public:
  Parser(TokenStream tokens, const IsType& is_type) : tokens_(std::move(tokens)), is_type_(is_type) {}

  Result<ExpressionPtr> whole() {
    TRY(ExpressionPtr e, expression());
    TRY_OK(end());
    return e;
  }

  Result<std::vector<Item>> list() {
    std::vector<Item> items;
    do {
      Item item;
      if (tokens_.peek().kind == TokenKind::kName && tokens_.peek(1).is("=")) {
        item.name = tokens_.take().text;
        tokens_.take();
      }
      const uint32_t begin =
          tokens_.peek().range.begin;  // parentheses are no part of an expression's own range
      TRY(item.expression, expression());
      if (item.name.empty()) item.name = tokens_.source().substr(begin, tokens_.last_end() - begin);
      items.push_back(std::move(item));
    } while (tokens_.accept(","));
    TRY_OK(end());
    return items;
  }

 private:
  Status end() const {
    const Token& token = tokens_.peek();
    if (token.kind == TokenKind::kEnd) return {};
    if (token.is("=")) return tokens_.error("'=' compares nothing: use ==");
    return tokens_.error("an operator or the end should come here");
  }

  Result<ExpressionPtr> make(Kind kind, Range range, std::vector<ExpressionPtr> operands, const Token& mark) {
    auto e = std::make_unique<Expression>();
    e->kind = kind;
    e->range = range;
    e->mark = mark.range;
    e->text = mark.text;
    for (const ExpressionPtr& o : operands) e->depth = std::max(e->depth, o->depth + 1);
    e->operands = std::move(operands);
    if (e->depth > kMostDepth) return error_at(tokens_.source(), range, "the expression is nested too deep");
    return e;
  }

  template <typename... Operands>
  Result<ExpressionPtr> make_of(Kind kind, uint32_t begin, const Token& mark, Operands... operands) {
    std::vector<ExpressionPtr> all;
    (all.push_back(std::move(operands)), ...);
    return make(kind, {begin, tokens_.last_end()}, std::move(all), mark);
  }

  Result<ExpressionPtr> expression() {
    if (++nesting_ > kMostNesting) return tokens_.error("the expression is nested too deep");
    auto e = conditional();
    --nesting_;
    return e;
  }

  Result<ExpressionPtr> conditional() {
    TRY(ExpressionPtr test, binary(0));
    if (!tokens_.peek().is("?")) return test;
    const Token mark = tokens_.take();
    TRY(ExpressionPtr yes, expression());
    TRY_OK(tokens_.expect(":"));
    TRY(ExpressionPtr no, expression());
    const uint32_t begin = test->range.begin;
    return make_of(Kind::kConditional, begin, mark, std::move(test), std::move(yes), std::move(no));
  }

  Result<ExpressionPtr> binary(size_t level) {
    if (level == kLevels) return unary();
    TRY(ExpressionPtr left, binary(level + 1));
    if (level_of(tokens_.peek()) == level && level < 2) return logical(level, std::move(left));
    while (level_of(tokens_.peek()) == level) {
      const Token mark = tokens_.take();
      TRY(ExpressionPtr right, binary(level + 1));
      const uint32_t begin = left->range.begin;
      TRY(left, make_of(Kind::kBinary, begin, mark, std::move(left), std::move(right)));
    }
    return left;
  }

  // a && b && c && d as (a && b) && (c && d): the same, and not as deep.
  Result<ExpressionPtr> logical(size_t level, ExpressionPtr first) {
    std::vector<ExpressionPtr> sides;
    std::vector<Token> marks;
    sides.push_back(std::move(first));
    while (level_of(tokens_.peek()) == level) {
      marks.push_back(tokens_.take());
      TRY(ExpressionPtr side, binary(level + 1));
      sides.push_back(std::move(side));
    }
    return balanced(sides, marks);
  }

  Result<ExpressionPtr> balanced(std::span<ExpressionPtr> sides, std::span<const Token> marks) {
    if (sides.size() == 1) return std::move(sides[0]);
    const size_t half = sides.size() / 2;
    const Range range{sides.front()->range.begin, sides.back()->range.end};
    std::vector<ExpressionPtr> both;
    TRY(ExpressionPtr left, balanced(sides.first(half), marks.first(half - 1)));
    TRY(ExpressionPtr right, balanced(sides.subspan(half), marks.subspan(half)));
    both.push_back(std::move(left));
    both.push_back(std::move(right));
    return make(Kind::kBinary, range, std::move(both), marks[half - 1]);
  }

  Result<ExpressionPtr> unary() {
    if (++nesting_ > kMostNesting) return tokens_.error("the expression is nested too deep");
    auto e = unary_inside();
    --nesting_;
    return e;
  }

  Result<ExpressionPtr> unary_inside() {
    const Token mark = tokens_.peek();
    const uint32_t begin = mark.range.begin;
    if (mark.kind == TokenKind::kSign &&
        std::find(std::begin(kUnary), std::end(kUnary), mark.text) != std::end(kUnary)) {
      tokens_.take();
      TRY(ExpressionPtr operand, unary());
      return make_of(Kind::kUnary, begin, mark, std::move(operand));
    }
    if (!mark.is("(") || !is_cast()) return postfix();
    tokens_.take();
    TRY(const TypeName type, parse_type_name(tokens_));
    TRY_OK(tokens_.expect(")"));
    TRY(ExpressionPtr operand, unary());
    TRY(ExpressionPtr cast, make_of(Kind::kCast, begin, mark, std::move(operand)));
    cast->type = type;
    cast->mark = type.range;
    return cast;
  }

  // True if a type stands between the ( here and its ).
  bool is_cast() const {
    if (begins_type(tokens_, 1)) return true;
    if (tokens_.peek(1).kind != TokenKind::kName) return false;
    size_t at = 2;
    while (tokens_.peek(at).is("*")) ++at;
    if (!tokens_.peek(at).is(")")) return false;
    return at > 2 || begins_value(tokens_.peek(at + 1)) || is_type_(tokens_.peek(1).text);
  }

  // True if the token begins a value, and thus cannot follow one.
  static bool begins_value(const Token& token) {
    return token.kind != TokenKind::kEnd &&
           (token.kind != TokenKind::kSign || token.is("!") || token.is("~"));
  }

  Result<ExpressionPtr> postfix() {
    TRY(ExpressionPtr e, primary());
    for (;;) {
      const Token mark = tokens_.peek();
      const uint32_t begin = e->range.begin;
      if (mark.is(".") || mark.is("->")) {
        tokens_.take();
        const Token name = tokens_.peek();
        if (name.kind != TokenKind::kName && name.kind != TokenKind::kNumber)
          return tokens_.error("the name of a member should come here");
        tokens_.take();
        TRY(e, make_of(mark.is(".") ? Kind::kMember : Kind::kArrow, begin, name, std::move(e)));
        if (name.kind == TokenKind::kNumber) e->text = fmt::format("__{}", name.number);  // of tuples
        if (name.kind == TokenKind::kName && tokens_.accept("(")) {
          TRY_OK(tokens_.expect(")"));
          e->number = e->kind == Kind::kArrow ? 1 : 0;
          e->kind = Kind::kMethod;
          e->range.end = tokens_.last_end();
        }
      } else if (mark.is("[")) {
        TRY(e, index(std::move(e)));
      } else {
        return e;
      }
    }
  }

  Result<ExpressionPtr> index(ExpressionPtr array) {
    const Token mark = tokens_.take();
    const uint32_t begin = array->range.begin;
    TRY(ExpressionPtr first, expression());
    if (tokens_.accept("..")) {
      TRY(ExpressionPtr last, expression());
      TRY_OK(tokens_.expect("]"));
      return make_of(Kind::kSlice, begin, mark, std::move(array), std::move(first), std::move(last));
    }
    TRY_OK(tokens_.expect("]"));
    return make_of(Kind::kIndex, begin, mark, std::move(array), std::move(first));
  }

  Result<ExpressionPtr> primary() {
    const Token token = tokens_.peek();
    switch (token.kind) {
      case TokenKind::kNumber:
        return literal(Kind::kNumber);
      case TokenKind::kReal:
        return literal(Kind::kReal);
      case TokenKind::kCharacter:
        return literal(Kind::kCharacter);
      case TokenKind::kText:
        return tokens_.peek(1).is("::") ? qualified() : literal(Kind::kText);
      case TokenKind::kRegister:
        return literal(Kind::kRegister);
      case TokenKind::kModule:
        return qualified();
      case TokenKind::kName:
        return tokens_.peek(1).is("(") ? call() : literal(Kind::kName);
      default:
        break;
    }
    if (!token.is("(")) return tokens_.error("a value should come here");
    tokens_.take();
    TRY(ExpressionPtr e, expression());
    TRY_OK(tokens_.expect(")"));
    return e;
  }

  Result<ExpressionPtr> literal(Kind kind) {
    const Token token = tokens_.take();
    TRY(ExpressionPtr e, make(kind, token.range, {}, token));
    e->number = token.number;
    e->is_unsigned = token.is_unsigned;
    e->is_long = token.is_long;
    e->is_decimal = token.is_decimal;
    return e;
  }

  // file.c::name, "my program"::name
  Result<ExpressionPtr> qualified() {
    const Token where = tokens_.take();
    tokens_.accept("::");
    if (tokens_.peek().kind != TokenKind::kName)
      return tokens_.error("the name of a variable should come here");
    TRY(ExpressionPtr e, literal(Kind::kName));
    e->where = where.text;
    e->range.begin = e->mark.begin = where.range.begin;
    return e;
  }

  Result<ExpressionPtr> call() {
    const Token name = tokens_.take();
    tokens_.take();
    if (name.text == "sizeof" && is_type_in_sizeof()) return size_of_type(name);
    std::vector<ExpressionPtr> arguments;
    if (!tokens_.peek().is(")")) do {
        TRY(ExpressionPtr argument, expression());
        arguments.push_back(std::move(argument));
      } while (tokens_.accept(","));
    TRY_OK(tokens_.expect(")"));
    return make(Kind::kCall, {name.range.begin, tokens_.last_end()}, std::move(arguments), name);
  }

  bool is_type_in_sizeof() const {
    if (begins_type(tokens_)) return true;
    if (tokens_.peek().kind != TokenKind::kName) return false;
    size_t at = 1;
    while (tokens_.peek(at).is("*")) ++at;
    return tokens_.peek(at).is(")") && (at > 1 || is_type_(tokens_.peek().text));
  }

  Result<ExpressionPtr> size_of_type(const Token& name) {
    TRY(const TypeName type, parse_type_name(tokens_));
    TRY_OK(tokens_.expect(")"));
    TRY(ExpressionPtr e, make(Kind::kSizeOfType, {name.range.begin, tokens_.last_end()}, {}, name));
    e->type = type;
    return e;
  }

  TokenStream tokens_;
  const IsType& is_type_;
  unsigned nesting_ = 0;
};

}  // namespace

Result<ExpressionPtr> parse_expression(std::string_view source, const IsType& is_type) {
  TRY(auto tokens, TokenStream::open(source));
  return Parser(std::move(tokens), is_type).whole();
}

Result<std::vector<Item>> parse_list(std::string_view source, const IsType& is_type) {
  TRY(auto tokens, TokenStream::open(source));
  return Parser(std::move(tokens), is_type).list();
}

}  // namespace blip::script
