// SPDX-License-Identifier: MIT
// Recursive descent with a look ahead: of the files parse_*.cc only.
#pragma once

#include "bt/parser.h"
#include "bt/scanner.h"

namespace blip::bt {

class TreeParser {
 public:
  explicit TreeParser(std::string_view source) : scan_(source) {}

  Result<Tree> tree();
  Result<ExprPtr> whole_expression();

 private:
  using Kind = Expr::Kind;

  // parse_program.cc
  Status preamble(Tree& tree);
  Status preprocessor(Tree& tree);
  Status condition(std::string_view word, std::string_view rest);
  Status definition(Tree& tree);
  Status config(Tree& tree);
  Status item(Tree& tree);
  Status macro(Tree& tree);
  Status function(Tree& tree);
  Status import(Tree& tree);
  Status map_declaration(Tree& tree);
  Status probe(Tree& tree);
  Result<AttachPoint> attach_point();
  bool is_definition();

  // parse_statements.cc
  Result<ExprPtr> block(bool has_value);
  Status statements(Expr& block);
  Result<StmtPtr> keyword_statement(std::string_view word);
  Result<StmtPtr> let();
  Result<StmtPtr> loop(Stmt::Kind kind);
  Result<StmtPtr> for_loop();
  Result<StmtPtr> jump(Stmt::Kind kind);
  Status plain_statement(Expr& block);
  std::optional<std::string> assignment_sign();
  Status statement_end();
  Result<ExprPtr> parenthesized_condition();

  // parse_expressions.cc
  Result<ExprPtr> expression();
  Result<ExprPtr> binary(int least);
  Result<ExprPtr> unary();
  Result<ExprPtr> postfix(ExprPtr e);
  Result<ExprPtr> primary();
  Result<ExprPtr> sigil();
  Result<ExprPtr> word();
  Result<ExprPtr> call(std::string name, size_t begin);
  Result<ExprPtr> conditional_block();
  Result<ExprPtr> of_type(Kind kind);
  Result<ExprPtr> parenthesis();
  Result<ExprPtr> record(size_t begin);
  Result<ExprPtr> map(size_t begin);
  Result<ExprPtr> variable(size_t begin);
  // nullptr: no type stands here; then nothing is taken.
  Result<std::unique_ptr<TypeName>> type();
  Result<std::unique_ptr<TypeName>> type_or_typeof();
  bool is_cast();

  Status expect(std::string_view sign);
  ExprPtr make(Kind kind, size_t begin) const {
    auto e = std::make_unique<Expr>();
    e->kind = kind;
    e->range = scan_.range(begin);
    return e;
  }
  static bool can_be_assigned(const Expr& e) {
    return e.kind == Kind::kVariable || e.kind == Kind::kMap || e.kind == Kind::kElement;
  }
  size_t here() {
    scan_.skip_layout();
    return scan_.at();
  }

  class Deeper {
   public:
    explicit Deeper(unsigned& depth) : depth_(++depth) {}
    ~Deeper() { --depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;

   private:
    unsigned& depth_;
  };

  Scanner scan_;
  unsigned depth_ = 0;
  std::vector<bool> conditions_;  // of #if: whether what follows counts
};

}  // namespace blip::bt
