// SPDX-License-Identifier: MIT
#include "session/list/listed_data.h"

#include <fmt/core.h>

#include "script/types/place_text.h"
#include "script/types/type.h"

namespace blip::session {

namespace {

using script::Type;
using script::TypeKind;

// Returns the type that pointers, references and arrays lead to in the end.
const Type& without_pointers(const Type& type) {
  constexpr int kMostSteps = 8;
  const Type* at = &script::resolve(type);
  for (int i = 0; i < kMostSteps && at->target; ++i) {
    if (at->kind != TypeKind::kPointer && at->kind != TypeKind::kReference && at->kind != TypeKind::kArray)
      break;
    at = &script::resolve(*at->target);
  }
  return *at;
}

ListedType layout_of(const Type& type) {
  ListedType listed{.name = script::to_string(type), .size = type.size, .members = {}};
  for (const script::Member& member : type.members)
    listed.members.push_back({.name = member.is_base ? "" : member.name,
                              .type = member.type ? script::to_string(*member.type) : "?",
                              .offset = member.offset,
                              .size = member.type ? script::resolve(*member.type).size : 0,
                              .bit_offset = member.bit_offset,
                              .bit_size = member.bit_size});
  return listed;
}

void add_variable(const script::Variable& variable, ListedData& data, std::set<std::string>& known) {
  data.variables.push_back({.name = variable.name,
                            .type = variable.type ? script::to_string(*variable.type) : "?",
                            .place = script::place_text(variable.place),
                            .is_parameter = variable.is_parameter});
  if (!variable.type) return;
  const Type& type = without_pointers(*variable.type);
  if (type.kind != TypeKind::kStruct && type.kind != TypeKind::kUnion) return;
  if (!type.members.empty() && known.insert(script::to_string(type)).second)
    data.types.push_back(layout_of(type));
}

std::string signature_of(const std::string& name, const Type* result, const ListedData& data) {
  std::string parameters;
  for (const ListedVariable& v : data.variables) {
    if (!parameters.empty()) parameters += ", ";
    parameters += fmt::format("{} {}", v.type, v.name);
  }
  return fmt::format("{} {}({})", result ? script::to_string(*result) : "?", name,
                     parameters.empty() ? "void" : parameters);
}

}  // namespace

ListedData listed_data(script::Scope& scope, const std::string& name, std::set<std::string>& known) {
  ListedData data;
  if (!scope.what_is_missing().empty()) return data;
  for (const script::Variable& v : scope.parameters()) add_variable(v, data, known);
  data.signature = signature_of(name, scope.result_type(), data);
  for (const script::Variable& v : scope.locals()) add_variable(v, data, known);
  return data;
}

}  // namespace blip::session
