// SPDX-License-Identifier: MIT
// Arguments at the first instruction. What an optimizing compiler tells by lists of locations is right there.
// Otherwise variables have one place for the whole function, in its frame, and the prologue has yet to store
// them: then the calling convention tells, unless the compiler may have changed it for this function. Rust's
// is nobody's business: there the code of the prologue tells.
#include <algorithm>
#include <array>

#include "dwarf/stored_arguments.h"
#include "dwarf/triviality.h"
#include "dwarf/variable_places.h"
#include "script/eightbytes.h"
#include "script/sysv_abi.h"

namespace blip::dwarf {

using script::AbiSignature;
using script::AbiValue;
using script::Place;

namespace {

constexpr uint64_t kRust = 0x1c;

AbiValue abi_value(Module& module, const Dwarf_Die& holder, uint64_t language) {
  const auto type = referred(holder, DW_AT_type);
  if (!type) return {};
  const auto plain = without_names(*type);
  const uint64_t alignment = plain ? number(*plain, DW_AT_alignment).value_or(0) : 0;
  return {.type = &module.types().of(*type),
          .passing = is_c_plus_plus(language) ? passing_of(*type) : AbiValue::Passing::kByValue,
          .alignment = static_cast<uint32_t>(std::min<uint64_t>(alignment, 4096))};
}

// Functions that the compiler made of something else have arguments that are not in the source.
bool follows_convention(const Dwarf_Die& function, uint64_t language) {
  const uint64_t convention = number(function, DW_AT_calling_convention).value_or(DW_CC_normal);
  if (convention != DW_CC_normal && convention != DW_CC_program) return false;
  if (language == kRust) return name_of(function).find('{') == std::string_view::npos;
  return is_c(language) || is_c_plus_plus(language);
}

// The register that a place is or begins with.
const script::Node* first_register(const Place& place) {
  if (place.kind == Place::Kind::kPieces && !place.pieces.empty())
    return first_register(place.pieces[0].place);
  if (place.kind != Place::Kind::kValue || place.code.nodes.size() != 1) return nullptr;
  const script::Node& node = place.code.nodes[0];
  return node.op == script::Op::kRegister || node.op == script::Op::kVector ? &node : nullptr;
}

// An argument that is elsewhere shows a function whose convention was changed.
bool contradicts(const Place& told, const Place& by_convention) {
  const script::Node* a = first_register(told);
  const script::Node* b = first_register(by_convention);
  if (!a) return false;
  return !b || a->op != b->op || a->value != b->value;
}

// Before C had prototypes, floats were passed as doubles.
bool is_promoted(const Dwarf_Die& function, uint64_t language, const script::Type* type) {
  if (!type || !is_c(language) || attribute(function, DW_AT_prototyped)) return false;
  const script::Type& resolved = script::resolve(*type);
  return resolved.kind == script::TypeKind::kFloat && resolved.size == 4;
}

bool is_unknown(const Place& place) { return place.kind == Place::Kind::kOptimizedOut; }

// Where a list of locations begins to tell something, soon behind the entry.
std::optional<uint64_t> first_told(const Dwarf_Die& variable, uint64_t entry) {
  constexpr uint64_t kSoon = 128;
  const auto location = attribute(variable, DW_AT_location);
  if (!location) return std::nullopt;
  uint64_t first = entry + kSoon;
  for_each_location(*location, [&](const LocationEntry& told) {
    if (told.begin > entry && told.begin < told.end) first = std::min<uint64_t>(first, told.begin);
    return true;
  });
  return first < entry + kSoon ? std::optional(first) : std::nullopt;
}

// What no convention tells, and of Rust everything.
void add_stored(Module& module, const VariablePlaces& places, const Dwarf_Die& function,
                const std::vector<Dwarf_Die>& parameters, const std::vector<Located>& all,
                std::vector<Place>& result) {
  const auto entry = entry_of(function);
  if (!entry) return;
  const bool is_rust = module.unit_of(function).language() == kRust;
  const StoredArguments stored(module.program(), FileAddr(*entry), places.base_is_register());
  for (size_t i = 0; i < parameters.size(); ++i) {
    const uint64_t size = script::resolve(module.types().of_holder(parameters[i])).size;
    const Located& located = all[i];
    if (!is_unknown(result[i]) && !(is_rust && located.is_unset)) continue;
    Place place = located.is_unset ? stored.place(located.place, size) : Place{};
    if (const auto later = first_told(parameters[i], *entry); later && is_unknown(place) && located.is_told) {
      const VariablePlaces there({.pc = FileAddr(*later)}, {});
      place = stored.unchanged(there.place(parameters[i], size), *later - *entry);
    }
    if (!is_unknown(place)) result[i] = std::move(place);
  }
}

// Rust returns words and pairs of words as C does, and the rest as it likes.
bool is_returned_like_c(const script::Type& type) {
  const bool is_structure = type.kind == script::TypeKind::kStruct || type.kind == script::TypeKind::kUnion ||
                            type.kind == script::TypeKind::kArray;
  if (!is_structure) return type.size <= sizeof(uint64_t);
  const script::Eightbytes bytes = script::classify(type);
  return type.size == 16 && bytes.is_known && !bytes.in_memory &&
         bytes.classes == std::array{script::EightbyteClass::kInteger, script::EightbyteClass::kInteger};
}

}  // namespace

Place returned_place(Module& module, const Dwarf_Die& function) {
  const uint64_t language = module.unit_of(function).language();
  if (!follows_convention(function, language)) return {};
  const AbiValue value = abi_value(module, function, language);
  if (!value.type || (language == kRust && !is_returned_like_c(script::resolve(*value.type)))) return {};
  return script::result_place(value);
}

std::vector<Place> entry_places(Module& module, const VariablePlaces& places, const Dwarf_Die& function,
                                const std::vector<Dwarf_Die>& parameters) {
  const uint64_t language = module.unit_of(function).language();
  AbiSignature signature{.result = abi_value(module, function, language), .only_scalars = language == kRust};
  std::vector<Place> result(parameters.size());
  std::vector<size_t> passed;  // by the convention, in its order
  std::vector<Located> all;
  bool is_certain = follows_convention(function, language);
  for (size_t i = 0; i < parameters.size(); ++i) {
    AbiValue value = abi_value(module, parameters[i], language);
    const Located& located =
        all.emplace_back(places.locate(parameters[i], value.type ? script::resolve(*value.type).size : 0));
    if (located.passed == Located::Passed::kAsValue) value.passing = AbiValue::Passing::kByValue;
    if (located.passed == Located::Passed::kAsPointer) value.passing = AbiValue::Passing::kByReference;
    if (!located.is_unset) result[i] = located.place;
    // What no place is told for may have been removed; compilers add and drop their own arguments.
    if (!located.is_told && flag(original(parameters[i]), DW_AT_artificial)) continue;
    is_certain = is_certain && located.is_told;
    signature.arguments.push_back(value);
    passed.push_back(i);
  }
  const std::vector<Place> by_convention = script::argument_places(signature);
  for (size_t k = 0; k < passed.size(); ++k)
    if (!all[passed[k]].is_unset && contradicts(result[passed[k]], by_convention[k])) is_certain = false;
  for (size_t k = 0; k < passed.size() && is_certain; ++k)
    if (all[passed[k]].is_unset && !is_promoted(function, language, signature.arguments[k].type))
      result[passed[k]] = by_convention[k];
  if (std::any_of(all.begin(), all.end(), [](const Located& located) { return located.is_unset; }))
    add_stored(module, places, function, parameters, all, result);
  return result;
}

}  // namespace blip::dwarf
