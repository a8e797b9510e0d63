// SPDX-License-Identifier: MIT
// Makes one handler or function.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "script/front/function_builder.h"
#include "script/front/target_names.h"
#include "stap/builtins.h"
#include "stap/lower.h"

namespace blip::stap {

class Body {
 public:
  using Value = script::Value;
  using Values = script::FunctionBuilder::Values;
  using Op = script::Op;

  Body(ProgramMaker& maker, const script::FunctionBuilder::Options& options, Handler* handler,
       script::HitSite* site);

  Result<script::Lowered> handler();
  Result<script::Function> function(const std::vector<Function*>& overloads, size_t which);

 private:
  // A function whose body is here: the handler, the function that is made, or one that is part of it.
  struct Frame {
    const std::vector<Function*>* overloads = nullptr;
    size_t which = 0;
    std::map<const Variable*, uint32_t> locals{};
    std::map<const Variable*, const script::Type*> types{};  // of pointers that locals hold
    std::optional<uint32_t> end{}, result{};  // of one that is part of another: its last block, its result
    bool is_handler = false;
  };
  struct Loop {
    uint32_t next, end;
  };

  void set_arguments(const Variable& argv);

  // lower_statement.cc
  Status foreach_bucket(Statement& s);
  Status statement(Statement& s);
  Status block(const std::vector<StatementPtr>& all);
  Status conditional(Statement& s);
  Status loop(Statement& s);
  Status foreach (Statement& s);
  Status foreach_slice(const Foreach& f, uint32_t walk, const Values& wanted, uint32_t next);
  Status attempt(Statement& s);
  Status leave(const Statement& s);
  Status hand_on();
  Status end_frame(std::optional<Value> result);
  Status deletion(Expression& e);
  std::vector<uint32_t> assigned_in(Statement& s);

  // lower_expression.cc
  Result<Value> value(Expression& e);
  Result<Values> values(const std::vector<ExpressionPtr>& all);
  Result<Value> name(Expression& e);
  Result<Value> element(Expression& e);
  Result<Value> in(Expression& e);
  Result<Value> in_slice(Expression& e);
  Result<Value> unary(Expression& e);
  Result<Value> binary(Expression& e);
  void check_divisor(Value& a, Value& b);
  Value arithmetic(std::string_view sign, const Value& a, const Value& b);
  Result<Value> comparison(Expression& e);
  Result<Value> logical(Expression& e);
  Result<Value> ternary(Expression& e);
  Result<Value> assignment(Expression& e);
  Result<Value> increment(Expression& e);
  Result<Value> concat(Expression& e);
  Result<Value> match(Expression& e);
  Result<Value> statistic(Expression& e);
  Result<Value> bucket(Expression& histogram, const Value& which);
  Result<Value> bucket_element(Expression& e);
  Result<Value> defined(Expression& e);
  Result<Value> entry(Expression& e);
  Result<Values> keys_of(Expression& e);
  Result<Value> get(Expression& left, const Values& keys);
  Status set(Expression& left, const Values& keys, const Value& v);
  void set_variable(const Variable& v, const Value& value);

  // lower_call.cc
  Result<Value> call(Expression& e);
  Result<Value> inlined(Expression& e, size_t which, const Values& arguments);
  Result<Value> print(Expression& e);
  Result<Value> print_histogram(Expression& e);

  // lower_builtin.cc
  Result<Value> builtin(Expression& e, const Builtin& b);
  Result<Value> own(Expression& e, const Values& a);
  Result<Value> at_hit(Expression& e, const Values& a);
  Result<Value> user_text(Expression& e, const Values& a);
  Result<std::optional<Value>> user_number(Expression& e, const Values& a);
  Result<std::optional<Value>> argument(Expression& e, const Values& a);
  Value text_of_probe(Special what);
  Value clock();

  // lower_target.cc
  Result<Value> target(Expression& e);
  Result<script::Operand> operand(Expression& e);
  Result<script::Operand> target_base(Expression& e);
  Result<script::Operand> with_components(Expression& e, script::Operand base);
  Result<Value> all_variables(Expression& e);
  Result<Value> pretty(Expression& e);
  void add_pretty(const script::Operand& o, unsigned depth, std::string& format, Values& values);
  Status needs_place(const Expression& e) const;
  bool is_return() const { return names_ != nullptr && names_->scopes().is_return; }

  // Values.
  uint32_t local_of(const Variable& v);
  Frame& frame() { return frames_.back(); }
  Value number(int64_t n) { return f_.constant(static_cast<uint64_t>(n)); }
  Value nothing(Type type) { return type == Type::kString ? f_.text("") : f_.constant(0); }
  // The same value, for use behind what may begin new blocks.
  Value kept(const Value& v) { return f_.keep(v); }
  bool may_branch(const Expression& e) const;
  bool is_plain(Expression& e) const;

  ProgramMaker& maker_;
  Handler* handler_;
  std::unique_ptr<script::TargetNames> names_;
  script::FunctionBuilder f_;
  std::vector<Frame> frames_;
  std::vector<Loop> loops_;
  uint32_t failure_ = script::kNone;  // the block that catches
  bool is_entry_ = false;             // in @entry()
  std::optional<uint32_t> match_subject_{}, match_pattern_{};
};

}  // namespace blip::stap
