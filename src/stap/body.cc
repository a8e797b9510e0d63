// SPDX-License-Identifier: MIT
#include "stap/body.h"

#include "stap/walk.h"

namespace blip::stap {

using script::FunctionBuilder;
using script::TargetNames;

Body::Body(ProgramMaker& maker, const FunctionBuilder::Options& options, Handler* handler,
           script::HitSite* site)
    : maker_(maker), handler_(handler), f_(maker.program(), options) {
  if (site != nullptr) names_ = std::make_unique<TargetNames>(f_.pool(), site->scopes());
}

uint32_t Body::local_of(const Variable& v) {
  const auto [place, is_new] = frame().locals.try_emplace(&v, 0);
  if (is_new) place->second = f_.add_local(value_type(v.type));
  return place->second;
}

// argv[1] and so on, as the tapset has them.
void Body::set_arguments(const Variable& argv) {
  const auto& all = maker_.module().settings.arguments;
  for (size_t i = 0; i < all.size(); ++i)
    f_.put(maker_.map_of(argv), {f_.constant(i + 1)},
           f_.text(std::string_view(all[i]).substr(0, maker_.limits().text)));
}

Result<script::Lowered> Body::handler() {
  frames_.push_back({.is_handler = true});
  const uint32_t end = f_.new_block();
  frame().end = end;
  for (const auto& local : handler_->locals) local_of(*local);
  if (handler_->is_initial) {
    for (Variable* global : maker_.module().all_globals) {
      if (global->name == "argv" && global->spot.source->is_tapset && global->is_read) set_arguments(*global);
      if (global->init == nullptr) continue;
      TRY(const Value v, value(*global->init));
      f_.put(maker_.map_of(*global), {}, v);
    }
  }
  if (handler_->condition != nullptr) {
    TRY(const Value test, value(*handler_->condition));
    const uint32_t body = f_.new_block();
    f_.branch(test, body, end);
    f_.begin(body);
  }
  TRY_OK(block(handler_->bodies));
  if (f_.is_open()) f_.jump(end);
  f_.begin(end);
  f_.return_nothing();
  script::Lowered result;
  TRY(result.function, f_.finish());
  if (names_ != nullptr) result.kept = names_->kept();
  return result;
}

Result<script::Function> Body::function(const std::vector<Function*>& overloads, size_t which) {
  Function& f = *overloads[which];
  frames_.push_back({.overloads = &overloads, .which = which});
  uint32_t number = 0;
  for (const auto& parameter : f.parameters) frame().locals[parameter.get()] = number++;
  for (const auto& local : f.locals) local_of(*local);
  TRY_OK(statement(*f.body));
  if (f_.is_open()) TRY_OK(end_frame(std::nullopt));
  return f_.finish();
}

bool Body::may_branch(const Expression& e) const {
  using Kind = Expression::Kind;
  bool result = false;
  for_all_expressions(const_cast<Expression&>(e), [&](Expression& one) {
    result = result || one.kind == Kind::kTernary || one.kind == Kind::kAnd || one.kind == Kind::kOr ||
             one.kind == Kind::kCall || one.kind == Kind::kIn || one.text == "/" || one.text == "%" ||
             one.text == "/=" || one.text == "%=";
  });
  return result;
}

// A number that is computed without doing anything.
bool Body::is_plain(Expression& e) const {
  using Kind = Expression::Kind;
  bool result = true;
  for_all_expressions(e, [&](Expression& one) {
    switch (one.kind) {
      case Kind::kName:
        result = result && !one.variable->is_global && one.type == Type::kLong;
        return;
      case Kind::kBinary:
        result = result && one.text != "/" && one.text != "%";
        return;
      case Kind::kNumber:
      case Kind::kUnary:
      case Kind::kAnd:
      case Kind::kOr:
      case Kind::kTarget:
      case Kind::kCast:
      case Kind::kVar:
        return;
      case Kind::kComparison:
        result = result && one.operands[0]->type == Type::kLong;
        return;
      default:
        result = false;
    }
  });
  return result && e.type == Type::kLong;
}

Result<script::Lowered> lower_handler(ProgramMaker& maker, uint32_t probe, script::HitSite* site) {
  Handler& handler = maker.module().handlers[probe];
  const bool has_hit = handler.wanted.kind >= script::WantedProbe::Kind::kFunction;
  const FunctionBuilder::Options options{
      .name = "probe." + std::to_string(probe),
      .probe = probe,
      .place = has_hit ? script::Function::Place::kHit : script::Function::Place::kBlip};
  return Body(maker, options, &handler, site).handler();
}

Result<script::Function> lower_function(ProgramMaker& maker, const std::vector<Function*>& overloads,
                                        size_t which, const std::string& name) {
  const Function& f = *overloads[which];
  FunctionBuilder::Options options{.name = name};
  for (const auto& parameter : f.parameters) options.parameters.push_back(value_type(parameter->type));
  if (f.type != Type::kUnknown) options.result = value_type(f.type);
  return Body(maker, options, nullptr, nullptr).function(overloads, which);
}

}  // namespace blip::stap
