// SPDX-License-Identifier: MIT
#include "bt/lower.h"

#include <fmt/core.h>

#include <algorithm>

#include "bt/probes.h"

namespace blip::bt {

namespace {

script::FunctionBuilder::Options options(const script::WantedProbe& probe, uint32_t number) {
  using Place = script::Function::Place;
  return {.name = fmt::format("h{}", number),
          .probe = number,
          .place = runs_without_hit(probe) ? Place::kBlip : Place::kHit,
          .fault_is_zero = true};
}

std::string describe(const Type& type) {
  std::string text = fmt::format("{}{}", to_string(type), type.name);
  text += fmt::format(":{}:{}:{}", type.most, type.limit, static_cast<const void*>(type.target));
  for (const Field& f : type.fields) text += '(' + f.name + describe(f.type) + ')';
  return text;
}

}  // namespace

Lowerer::Lowerer(Declarations& script, const script::WantedProbe& probe, uint32_t number,
                 script::HitSite* site, script::Program& program)
    : script_(script),
      probe_(probe),
      program_(program),
      has_hit_(!runs_without_hit(probe)),
      f_(program, options(probe, number)),
      scopes_(1) {
  if (site) names_ = std::make_unique<script::TargetNames>(f_.pool(), site->scopes());
  last_ = f_.new_block();
}

Result<script::Lowered> Lowerer::run(const ProbeBlock& probe) {
  if (probe.predicate) {
    TRY(const Value test, truth(*probe.predicate));
    const uint32_t yes = f_.new_block();
    f_.branch(test, yes, last_);
    f_.begin(yes);
  }
  TRY_OK(block(*probe.body));
  f_.begin(last_);
  auto function = f_.finish();
  if (!function) return at(probe.range, function.error().message());
  script::Lowered lowered{.function = *std::move(function)};
  if (names_) lowered.kept = names_->kept();
  return lowered;
}

Error Lowerer::at(Range range, std::string_view message) const {
  return script::error_at(script_.source, range, message);
}

Status Lowerer::wants(const Expr& call, size_t least, size_t most) const {
  const size_t n = call.operands.size();
  if (n >= least && n <= most) return {};
  const std::string count = least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most);
  return at(call, fmt::format("{}() wants {} argument{}, and here {} {}", call.text, count,
                              most == 1 ? "" : "s", n == 1 ? "is" : "are", n));
}

void Lowerer::keep(Typed& value) {
  for (Value& leaf : value.leaves) leaf = f_.keep(leaf);
}

std::vector<script::Value> Lowerer::leaves_of_all(const std::vector<Typed>& all) {
  std::vector<Value> leaves;
  for (const Typed& t : all) leaves.insert(leaves.end(), t.leaves.begin(), t.leaves.end());
  return leaves;
}

std::string Lowerer::key_of(const Shape& shape) const {
  std::string key = fmt::format("{} {} {}-{} ", static_cast<int>(shape.kind), static_cast<int32_t>(shape.map),
                                shape.range.begin, shape.range.end);
  for (const script::Range& r : shape.expanded_from) key += fmt::format("{}-{} ", r.begin, r.end);
  for (const Type& t : shape.arguments) key += describe(t) + ' ';
  return key + shape.text;
}

void Lowerer::emit(Shape shape, const std::vector<Value>& arguments) {
  const std::string key = key_of(shape);
  script_.shapes.formats.try_emplace(key, std::move(shape));
  f_.emit(f_.format(key, arguments), arguments);
}

script::Value Lowerer::sprint(Shape shape, const std::vector<Value>& arguments) {
  const std::string key = key_of(shape);
  script_.shapes.formats.try_emplace(key, std::move(shape));
  return f_.sprint(f_.format(key, arguments), arguments);
}

}  // namespace blip::bt
