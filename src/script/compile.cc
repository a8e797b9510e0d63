// SPDX-License-Identifier: MIT
#include "script/compile.h"

#include "script/ir/verify.h"

namespace blip::script {

namespace {

// Errors about the program as a whole, which no single expression causes.
Status check_size(const Status& valid) {
  if (valid) return {};
  return Error(ErrorKind::kUsage,
               "this is too much for one probe: ask for less (" + valid.error().message() + ")");
}

// The fields that events of returns have.
bool is_one_of_them(const Item& item) {
  const Expression& e = *item.expression;
  return e.kind == Expression::Kind::kName && e.where.empty() && e.text == item.name && is_of_returns(e.text);
}

}  // namespace

Compiler::Compiler(const HitScopes& site, const Limits& limits)
    : site_(site),
      limits_(limits),
      presenter_(
          access_, [this](std::string_view name) { return site_.scope->find_type(name); }, limits_,
          outputs_) {}

IsType Compiler::is_type() {
  return [this](std::string_view name) { return Names(access_, site_).is_type(name); };
}

Status Compiler::add_filter(std::string_view text) {
  TRY(const ExpressionPtr e, parse_expression(text, is_type()));
  TRY(const uint32_t node, checker(text).check_truth(*e));
  condition_ = condition_ == kNone ? node : builder_.add(Op::kLogicalAnd, condition_, node);
  return {};
}

Status Compiler::add_capture(std::string_view list) {
  TRY(const std::vector<Item> items, parse_list(list, is_type()));
  for (const Item& item : items) {
    if (site_.has_fields && is_one_of_them(item)) continue;
    TRY(Operand operand, checker(list).check(*item.expression));
    if (is_text(operand)) return error_at(list, item.expression->range, "a text is nothing to capture");
    fields_.push_back({item.name, std::move(operand)});
  }
  return {};
}

void Compiler::add_variables(std::span<const Variable> variables, ctf::FieldGroup group) {
  if (!site_.is_return) {
    for (const Variable& v : variables) fields_.push_back({v.name, access_.variable(v), group});
    return;
  }
  Access there{entries_.builder, types_};
  for (const Variable& v : variables) {
    auto kept = keep_operand(entries_, there, there.variable(v), access_);
    if (!kept) kept = Operand{.kind = Operand::Kind::kText, .text = "<not kept>"};
    fields_.push_back({v.name, *std::move(kept), group});
  }
}

Result<Captured> Compiler::finish() {
  Captured result{.fields = presenter_.present(fields_)};
  result.program =
      without_unused({.code = builder_.code(), .condition = condition_, .outputs = std::move(outputs_)});
  TRY_OK(check_size(verify(result.program)));
  // What is kept is like outputs: what only helped to fold is left out.
  HitProgram kept{.code = entries_.builder.code()};
  for (const uint32_t node : entries_.nodes) kept.outputs.push_back({.node = node});
  kept = without_unused(kept);
  result.entry = std::move(kept.code);
  for (const Output& o : kept.outputs) result.entry_nodes.push_back(o.node);
  TRY_OK(check_size(verify(result.entry)));
  return result;
}

}  // namespace blip::script
