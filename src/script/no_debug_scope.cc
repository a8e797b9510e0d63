// SPDX-License-Identifier: MIT
#include "script/no_debug_scope.h"

#include <fmt/core.h>

#include "script/convention/sysv_abi.h"
#include "script/types/builtin_types.h"

namespace blip::script {

namespace {

constexpr size_t kRegisterArguments = 6;

// Anything may be an address: shown in hex, all zeros and low numbers are recognized anyway.
const Type& any_word() {
  static const Type kWord{.kind = TypeKind::kPointer, .size = 8, .target = builtin_type("void")};
  return kWord;
}

std::vector<Variable> parameters_of(const Prototype* prototype) {
  std::vector<Variable> variables;
  if (prototype)
    for (const auto& p : prototype->parameters)
      variables.push_back({.name = p.name, .type = p.type, .is_parameter = true});
  else
    for (size_t i = 0; i < kRegisterArguments; ++i)
      variables.push_back({.name = fmt::format("arg{}", i), .type = &any_word(), .is_parameter = true});
  return variables;
}

}  // namespace

NoDebugScope::NoDebugScope(std::string_view function, At at, std::string missing)
    : prototype_(find_prototype(function)),
      parameters_(parameters_of(prototype_)),
      missing_(std::move(missing)) {
  if (at != At::kEntry) return;
  AbiSignature signature;
  if (prototype_) signature.result.type = prototype_->result;
  for (const Variable& v : parameters_) signature.arguments.push_back({.type = v.type});
  const std::vector<Place> places = argument_places(signature);
  for (size_t i = 0; i < parameters_.size() && i < places.size(); ++i) parameters_[i].place = places[i];
}

// If the function is not known, arg0 is a number to compute with, as in every expression.
std::optional<Variable> NoDebugScope::find(std::string_view name) {
  if (!prototype_) return std::nullopt;
  for (const Variable& v : parameters_)
    if (v.name == name) return v;
  return std::nullopt;
}

const Type* NoDebugScope::find_type(std::string_view name) { return builtin_type(name); }

}  // namespace blip::script
