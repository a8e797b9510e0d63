// SPDX-License-Identifier: MIT
#include "stap/tree.h"

namespace blip::stap {

namespace {

ExpressionPtr clone(const ExpressionPtr& e) { return e == nullptr ? nullptr : stap::clone(*e); }
StatementPtr clone(const StatementPtr& s) { return s == nullptr ? nullptr : stap::clone(*s); }

template <typename T>
std::vector<T> clone(const std::vector<T>& all) {
  std::vector<T> result;
  result.reserve(all.size());
  for (const T& one : all) result.push_back(clone(one));
  return result;
}

Component clone(const Component& c) {
  return {.kind = c.kind, .text = c.text, .index = clone(c.index), .spot = c.spot};
}

std::unique_ptr<Foreach> clone(const std::unique_ptr<Foreach>& f) {
  if (f == nullptr) return nullptr;
  return std::make_unique<Foreach>(Foreach{.keys = clone(f->keys),
                                           .value = clone(f->value),
                                           .array = f->array,
                                           .histogram = clone(f->histogram),
                                           .array_spot = f->array_spot,
                                           .has_slice = f->has_slice,
                                           .slice = clone(f->slice),
                                           .direction = f->direction,
                                           .column = f->column,
                                           .statistic = f->statistic,
                                           .limit = clone(f->limit)});
}

}  // namespace

ExpressionPtr clone(const Expression& e) {
  auto result = std::make_unique<Expression>();
  result->kind = e.kind;
  result->spot = e.spot;
  result->text = e.text;
  result->number = e.number;
  result->operands = clone(e.operands);
  result->base = clone(e.base);
  result->format = e.format;
  result->module = e.module;
  result->numbers = e.numbers;
  for (const Component& c : e.components) result->components.push_back(clone(c));
  result->is_address = e.is_address;
  result->is_prefix = e.is_prefix;
  result->is_of_kernel = e.is_of_kernel;
  result->depth = e.depth;
  return result;
}

StatementPtr clone(const Statement& s) {
  auto result = std::make_unique<Statement>();
  result->kind = s.kind;
  result->spot = s.spot;
  result->value = clone(s.value);
  result->init = clone(s.init);
  result->step = clone(s.step);
  result->body = clone(s.body);
  result->foreach = clone(s.foreach);
  return result;
}

}  // namespace blip::stap
