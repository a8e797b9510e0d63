// SPDX-License-Identifier: MIT
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "bt/tree_parser.h"

namespace blip::bt {

namespace {

// The longer ones first.
constexpr std::array<std::string_view, 11> kAssigning = {
    "<<=", ">>=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "="};

bool is_of_blocks(const Expr& e) { return e.kind == Expr::Kind::kIf || e.kind == Expr::Kind::kBlock; }

}  // namespace

// Its last expression without a ';' is its value, or one more statement if it can have no value.
Result<ExprPtr> TreeParser::block(bool has_value) {
  const Deeper deeper(depth_);
  const size_t begin = here();
  TRY_OK(expect("{"));
  auto e = make(Kind::kBlock, begin);
  TRY_OK(statements(*e));
  TRY_OK(expect("}"));
  e->range = scan_.range(begin);
  if (!has_value && !e->operands.empty()) {
    auto last = std::make_unique<Stmt>();
    last->range = e->operands[0]->range;
    last->value = std::move(e->operands[0]);
    e->operands.clear();
    e->statements.push_back(std::move(last));
  }
  return e;
}

Status TreeParser::statements(Expr& block) {
  while (here(), scan_.peek() != '}' && !scan_.at_end()) {
    if (!block.operands.empty()) return scan_.error("a ';' is missing here");
    if (scan_.accept(";")) continue;
    const std::string word(scan_.peek_word());
    TRY(StmtPtr statement, keyword_statement(word));
    if (statement)
      block.statements.push_back(std::move(statement));
    else
      TRY_OK(plain_statement(block));
  }
  return {};
}

// nullptr: it is none.
Result<StmtPtr> TreeParser::keyword_statement(std::string_view word) {
  if (word == "while") return loop(Stmt::Kind::kWhile);
  if (word == "unroll") return loop(Stmt::Kind::kUnroll);
  if (word == "for") return for_loop();
  if (word == "break") return jump(Stmt::Kind::kBreak);
  if (word == "continue") return jump(Stmt::Kind::kContinue);
  if (word == "return") return jump(Stmt::Kind::kReturn);
  if (word == "let") return let();
  if (word == "import") return scan_.error("import is not there yet");
  const size_t sign = scan_.behind_layout(scan_.at() + 1);
  if (word != "_" || scan_.char_at(sign) != '=' || scan_.char_at(sign + 1) == '=') return StmtPtr();
  auto s = std::make_unique<Stmt>();
  s->kind = Stmt::Kind::kDiscard;
  const size_t begin = scan_.at();
  scan_.go_to(sign + 1);
  TRY(s->value, expression());
  s->range = scan_.range(begin);
  TRY_OK(statement_end());
  return s;
}

Status TreeParser::statement_end() {
  if (scan_.accept(";")) return {};
  if (here(); scan_.peek() == '}') return {};
  return scan_.error("a ';' is missing here");
}

Result<StmtPtr> TreeParser::jump(Stmt::Kind kind) {
  const size_t begin = here();
  scan_.accept_name();
  auto s = std::make_unique<Stmt>();
  s->kind = kind;
  here();
  if (kind == Stmt::Kind::kReturn && scan_.peek() != ';' && scan_.peek() != '}') {
    TRY(s->value, expression());
  }
  s->range = scan_.range(begin);
  TRY_OK(statement_end());
  return s;
}

Result<StmtPtr> TreeParser::let() {
  const size_t begin = here();
  scan_.accept_name();
  const size_t name = here();
  if (scan_.peek() != '$') return scan_.error("a variable is missing here");
  auto s = std::make_unique<Stmt>();
  s->kind = Stmt::Kind::kDeclare;
  TRY(s->target, variable(name));
  if (scan_.accept(":")) {
    const size_t at = here();
    TRY(s->type, scan_.peek_word() == "typeof" ? type_or_typeof() : type());
    if (!s->type) return scan_.error(at, "a type is missing here");
  }
  if (scan_.accept("=")) {
    TRY(s->value, expression());
  }
  s->range = scan_.range(begin);
  TRY_OK(statement_end());
  return s;
}

Result<ExprPtr> TreeParser::parenthesized_condition() {
  const Deeper deeper(depth_);
  if (!scan_.accept("(")) return unary();
  TRY(ExprPtr e, expression());
  TRY_OK(expect(")"));
  return e;
}

Result<StmtPtr> TreeParser::loop(Stmt::Kind kind) {
  const size_t begin = here();
  scan_.accept_name();
  auto s = std::make_unique<Stmt>();
  s->kind = kind;
  TRY(s->value, parenthesized_condition());
  TRY(s->body, block(false));
  s->range = scan_.range(begin);
  return s;
}

Result<StmtPtr> TreeParser::for_loop() {
  const size_t begin = here();
  scan_.accept_name();
  const bool has_parenthesis = scan_.accept("(");
  const size_t name = here();
  if (scan_.peek() != '$') return scan_.error("a variable is missing here");
  auto s = std::make_unique<Stmt>();
  TRY(s->target, variable(name));
  TRY_OK(expect(":"));
  const size_t over = here();
  TRY(s->value, primary());
  if (scan_.accept("..")) {
    s->kind = Stmt::Kind::kForRange;
    TRY(s->end, primary());
  } else {
    s->kind = Stmt::Kind::kForMap;
    if (s->value->kind != Kind::kMap && s->value->kind != Kind::kName)
      return scan_.error(over, "it loops over a map, or over numbers: 0..10");
  }
  if (has_parenthesis) TRY_OK(expect(")"));
  TRY(s->body, block(false));
  s->range = scan_.range(begin);
  return s;
}

std::optional<std::string> TreeParser::assignment_sign() {
  const size_t at = here();
  const std::string_view rest = scan_.source().substr(std::min(at, scan_.source().size()));
  const auto* sign = std::find_if(kAssigning.begin(), kAssigning.end(),
                                  [&](std::string_view text) { return rest.starts_with(text); });
  if (sign == kAssigning.end() || rest.starts_with("==")) return std::nullopt;
  scan_.advance(sign->size());
  return std::string(*sign);
}

// An assignment, or an expression, which is the block's value if no ';' follows.
Status TreeParser::plain_statement(Expr& block) {
  const size_t begin = here();
  auto s = std::make_unique<Stmt>();
  TRY(ExprPtr e, expression());
  const size_t behind = scan_.at();
  if (const auto sign = can_be_assigned(*e) ? assignment_sign() : std::nullopt) {
    s->kind = Stmt::Kind::kAssign;
    s->sign = *sign;
    s->target = std::move(e);
    TRY(s->value, expression());
    s->range = scan_.range(begin);
    TRY_OK(statement_end());
    block.statements.push_back(std::move(s));
    return {};
  }
  scan_.go_to(behind);
  const bool has_end = scan_.accept(";");
  if (!has_end && (here(), scan_.peek() == '}')) {
    block.operands.push_back(std::move(e));
    return {};
  }
  if (!has_end && !is_of_blocks(*e)) return scan_.error("a ';' is missing here");
  s->range = e->range;
  s->value = std::move(e);
  block.statements.push_back(std::move(s));
  return {};
}

}  // namespace blip::bt
