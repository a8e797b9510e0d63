// SPDX-License-Identifier: MIT
// Arrays whose length is known at run time: the number of their elements (clang) or the last index (gcc) is
// an expression, or a variable that the compiler has made for it.
#include <algorithm>

#include "dwarf/function_scope.h"

namespace blip::dwarf {

using script::Code;
using script::Op;
using script::Place;

namespace {

// Finds in `scopes` the concrete entry of a variable that a type names by its abstract entry.
std::optional<Dwarf_Die> instance_of(const Dwarf_Die& variable, const std::vector<Dwarf_Die>& scopes) {
  const void* wanted = original(variable).addr;
  for (const Dwarf_Die& scope : scopes)
    for (const Dwarf_Die& die : declared_in(scope, Declared::kVariables))
      if (die.addr == variable.addr || original(die).addr == wanted) return die;
  return std::nullopt;
}

std::optional<Code> loaded(const Place& place, const script::Type& type) {
  const bool is_number = type.kind == script::TypeKind::kInt && type.size <= sizeof(uint64_t);
  if (!is_number || place.code.nodes.empty()) return std::nullopt;
  Code code = place.code;
  const auto last = static_cast<uint32_t>(code.nodes.size() - 1);
  const Op op = place.kind == Place::Kind::kAddress ? Op::kLoad : Op::kExtend;
  code.add({.op = op, .width = static_cast<uint8_t>(type.size), .is_signed = type.is_signed, .a = last});
  return code;
}

}  // namespace

std::optional<Code> FunctionScope::bound(const Dwarf_Die& range, unsigned name) {
  const auto told = attribute(range, name);
  if (!told || !scopes_) return std::nullopt;
  const auto variable = referred(range, name);
  if (!variable) return places_.value(*told);
  const auto here = instance_of(*variable, scopes_->own);
  if (!here) return std::nullopt;
  const script::Type& type = script::resolve(debug_data_.types().of_holder(*here));
  return loaded(places_.place(*here, type.size), type);
}

const script::Type& FunctionScope::type_here(const Dwarf_Die& variable) {
  const script::Type& told = debug_data_.types().of_holder(variable);
  const script::Type& type = script::resolve(told);
  const auto range = type.kind == script::TypeKind::kArray && !type.count ? debug_data_.types().range_of(type)
                                                                          : std::nullopt;
  if (!range) return told;
  auto length = bound(*range, DW_AT_count);
  if (!length) {
    length = bound(*range, DW_AT_upper_bound);
    if (!length) return told;
    const uint64_t lowest = number(*range, DW_AT_lower_bound).value_or(debug_data_.lowest_index(*range));
    const auto last = static_cast<uint32_t>(length->nodes.size() - 1);
    length->add({.op = Op::kAdd, .a = last, .b = length->constant(1 - lowest)});
  }
  script::Type& here = types_.emplace_back(type);
  here.length = std::make_shared<const Code>(*std::move(length));
  return here;
}

}  // namespace blip::dwarf
