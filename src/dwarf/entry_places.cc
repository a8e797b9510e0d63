// SPDX-License-Identifier: MIT
// Finds the arguments at the first instruction. An optimizing compiler describes them by lists of locations.
// These lists are right there, except that they may begin with places that the prologue has yet to fill: no
// argument lies below the return address. Without lists a variable has one place for the whole function, in
// its frame. The calling convention gives what is still missing, unless the compiler may have changed it for
// this function. Rust defines no convention; there the code of the prologue shows it.
#include <algorithm>
#include <array>
#include <cstdlib>

#include "dwarf/result_uses.h"
#include "dwarf/stored_arguments.h"
#include "dwarf/units/stack_distance.h"
#include "dwarf/units/triviality.h"
#include "dwarf/variable_places.h"
#include "script/convention/eightbytes.h"
#include "script/convention/sysv_abi.h"
#include "script/types/members.h"
#include "x86/flow/argument_uses.h"

namespace blip::dwarf {

using script::AbiSignature;
using script::AbiValue;
using script::Place;

namespace {

constexpr uint64_t kRust = 0x1c;
constexpr uint64_t kRsp = 4;  // as script numbers them

AbiValue abi_value(DebugData& debug_data, const Dwarf_Die& holder, uint64_t language) {
  const auto type = referred(holder, DW_AT_type);
  if (!type) return {};
  const auto plain = without_names(*type);
  const uint64_t alignment = plain ? number(*plain, DW_AT_alignment).value_or(0) : 0;
  return {.type = &debug_data.types().of(*type),
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

bool is_made_by_gcc(const Dwarf_Die& unit) {
  auto producer = own_attribute(unit, DW_AT_producer);
  const char* text = producer ? ::dwarf_formstring(&*producer) : nullptr;
  return text && std::string_view(text).starts_with("GNU ");
}

// Says how far the convention can be trusted for a function.
enum class Trust : uint8_t {
  kNone,
  kIfAllAgree,  // the compiler may have removed parameters
  kIfUsed,      // callers may leave out what is not used
  kFull,
};

// clang counts the calls of functions that it has optimized.
bool is_optimized_by_clang(const Dwarf_Die& function) {
  return flag(function, DW_AT_call_all_calls) || flag(function, DW_AT_GNU_all_call_sites);
}

EntrySymbols::Kind symbol_of(DebugData& debug_data, const Dwarf_Die& function) {
  const auto entry = entry_of(function);
  return entry ? debug_data.entry_symbols().at(FileAddr(*entry)) : EntrySymbols::Kind::kNone;
}

// gcc gives names of their own to copies that it changes; clang changes what only its own file can call.
Trust trust_in_convention(DebugData& debug_data, const Dwarf_Die& function, uint64_t language) {
  using Kind = EntrySymbols::Kind;
  if (!follows_convention(function, language)) return Trust::kNone;
  if (language == kRust) return Trust::kIfAllAgree;
  const Kind kind = symbol_of(debug_data, function);
  if (kind == Kind::kChanged || kind == Kind::kSpecialized) return Trust::kNone;
  const bool keeps_all =
      is_made_by_gcc(debug_data.unit_of(function).unit()) || !is_optimized_by_clang(function);
  if (keeps_all && kind != Kind::kNone) return Trust::kFull;
  return kind == Kind::kVisible ? Trust::kIfUsed : Trust::kIfAllAgree;
}

bool is_wide_vector(const AbiValue& value) {
  return value.type && script::classify(*value.type).is_wide_vector;
}

// The size of the vector registers that the function was compiled for, as far as its code shows it.
uint32_t vector_size(DebugData& debug_data, const Dwarf_Die& function) {
  constexpr uint32_t kLeast = 16;
  const auto entry = entry_of(function);
  Dwarf_Addr end = 0;
  if (!entry || ::dwarf_highpc(const_cast<Dwarf_Die*>(&function), &end) != 0 || end <= *entry) return kLeast;
  const auto code = code_at(debug_data.program(), FileAddr(*entry));
  return std::max(kLeast, x86::widest_vector(code.first(std::min<uint64_t>(code.size(), end - *entry))));
}

// The register that a place is or begins with.
const script::Node* first_register(const Place& place) {
  if (place.kind == Place::Kind::kPieces && !place.pieces.empty())
    return first_register(place.pieces[0].place);
  if (place.kind != Place::Kind::kValue || place.code.nodes.size() != 1) return nullptr;
  const script::Node& node = place.code.nodes[0];
  return node.op == script::Op::kRegister || node.op == script::Op::kVector ? &node : nullptr;
}

std::optional<int64_t> stack_slot(const Place& place) {
  if (place.kind != Place::Kind::kAddress || place.code.nodes.empty()) return std::nullopt;
  return distances_from_rsp(place.code, kFarBelow).back();
}

// An argument that is elsewhere shows a function whose convention was changed.
bool contradicts(const Place& told, const Place& by_convention) {
  if (by_convention.kind == Place::Kind::kOptimizedOut) return false;
  if (const auto slot = stack_slot(told)) return stack_slot(by_convention) != slot;
  const script::Node* a = first_register(told);
  const script::Node* b = first_register(by_convention);
  return a && (!b || a->op != b->op || a->value != b->value);
}

// True if the place is in the function's own frame, which holds no arguments yet.
bool is_in_own_frame(const Place& place) {
  constexpr int64_t kReturnAddress = sizeof(uint64_t);
  if (place.kind == Place::Kind::kPieces)
    return std::any_of(place.pieces.begin(), place.pieces.end(),
                       [](const Place::Piece& piece) { return is_in_own_frame(piece.place); });
  if (place.kind == Place::Kind::kOptimizedOut || place.code.nodes.empty()) return false;
  const auto distances = distances_from_rsp(place.code, kFarBelow);
  const auto is_below = [&](uint32_t node) { return distances[node] && *distances[node] < kReturnAddress; };
  if (place.kind == Place::Kind::kAddress && is_below(static_cast<uint32_t>(distances.size() - 1)))
    return true;
  return std::any_of(place.code.nodes.begin(), place.code.nodes.end(), [&](const script::Node& node) {
    return node.op == script::Op::kLoad && is_below(node.a);
  });
}

// Keeps the parts of the place that the function's code reads: callers may leave out the rest.
Place only_used(const Place& place, const x86::ArgumentUses& uses) {
  using script::Op;
  Place result = place;
  for (Place::Piece& piece : result.pieces) piece.place = only_used(piece.place, uses);
  const auto is_unused = [&](const script::Node& node) {
    if (node.op == Op::kRegister) return node.value != kRsp && !(uses.general >> node.value & 1);
    return (node.op == Op::kVector || node.op == Op::kVectorHigh) && !(uses.vectors >> node.value & 1);
  };
  const auto& nodes = place.code.nodes;
  return std::any_of(nodes.begin(), nodes.end(), is_unused) ? Place{} : result;
}

bool is_by_reference(const Place& place) { return place.kind == Place::Kind::kAddress && !stack_slot(place); }

bool is_whole(const Place& place) {
  if (place.kind == Place::Kind::kPieces)
    return std::all_of(place.pieces.begin(), place.pieces.end(),
                       [](const Place::Piece& piece) { return is_whole(piece.place); });
  return place.kind != Place::Kind::kOptimizedOut;
}

// Before C had prototypes, floats were passed as doubles.
bool is_promoted(const Dwarf_Die& function, uint64_t language, const script::Type* type) {
  if (!type || !is_c(language) || attribute(function, DW_AT_prototyped)) return false;
  const script::Type& resolved = script::resolve(*type);
  return resolved.kind == script::TypeKind::kFloat && resolved.size == 4;
}

bool is_unknown(const Place& place) { return place.kind == Place::Kind::kOptimizedOut; }

// The first address, soon after the entry, for which the list of locations gives a place.
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

// Adds the arguments that no convention describes, and for Rust all arguments.
void add_stored(DebugData& debug_data, const VariablePlaces& places, const Dwarf_Die& function,
                const std::vector<Dwarf_Die>& parameters, const std::vector<Located>& all,
                std::vector<Place>& result) {
  const auto entry = entry_of(function);
  if (!entry) return;
  const bool is_rust = debug_data.unit_of(function).language() == kRust;
  const StoredArguments stored(debug_data.program(), FileAddr(*entry), places.base_is_register());
  for (size_t i = 0; i < parameters.size(); ++i) {
    const uint64_t size = script::resolve(debug_data.types().of_holder(parameters[i])).size;
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

}  // namespace

// Code that is not optimized has each parameter in memory from end to end, and those that are numbers in the
// frame.
bool is_rust_and_optimized(const Dwarf_Die& function, uint64_t language) {
  if (language != kRust) return false;
  bool has_frame = false;
  for (const Dwarf_Die& parameter : declared_in(function, Declared::kParameters)) {
    auto location = attribute(parameter, DW_AT_location);
    Dwarf_Op* ops = nullptr;
    size_t count = 0;
    if (!location || is_list(*location) || ::dwarf_getlocation(&*location, &ops, &count) != 0 || count == 0)
      return true;
    const bool in_frame = ops[0].atom == DW_OP_fbreg;
    if (!in_frame && (ops[0].atom < DW_OP_breg0 || ops[0].atom > DW_OP_breg31)) return true;
    has_frame |= in_frame;
  }
  return !has_frame;
}

// A copy may return something else, or nothing. rustc does not say that a pointer to a result in memory is
// returned, and so it need not be.
Place conventional_result(DebugData& debug_data, const Dwarf_Die& function) {
  const uint64_t language = debug_data.unit_of(function).language();
  if (!follows_convention(function, language) ||
      symbol_of(debug_data, function) == EntrySymbols::Kind::kChanged)
    return {};
  const AbiValue value = abi_value(debug_data, function, language);
  if (!value.type) return {};
  if (language == kRust) {
    Place place = script::rust_result_place(*value.type);
    const bool is_lost = place.kind == Place::Kind::kAddress && is_rust_and_optimized(function, language);
    return is_lost ? script::unknown_place(Unknown::kMaybeDropped) : place;
  }
  return is_wide_vector(value) ? script::result_place(value, vector_size(debug_data, function))
                               : script::result_place(value);
}

// clang changes what only its own file can call.
bool may_lose_result(DebugData& debug_data, const Dwarf_Die& function) {
  const UnitIndex& unit = debug_data.unit_of(function);
  const bool is_optimized =
      is_optimized_by_clang(function) || is_rust_and_optimized(function, unit.language());
  return is_optimized && !is_made_by_gcc(unit.unit()) &&
         symbol_of(debug_data, function) != EntrySymbols::Kind::kVisible;
}

Place returned_place(DebugData& debug_data, const Dwarf_Die& function) {
  Place place = conventional_result(debug_data, function);
  if (place.kind == Place::Kind::kOptimizedOut || !may_lose_result(debug_data, function)) return place;
  return is_result_taken(debug_data, function, place) ? place : script::unknown_place(Unknown::kMaybeDropped);
}

namespace {

// Parameters at the entry: what debugging information tells, and what the convention does.
class EntryArguments {
 public:
  EntryArguments(DebugData& debug_data, const VariablePlaces& places, const Dwarf_Die& function,
                 const std::vector<Dwarf_Die>& parameters)
      : debug_data_(debug_data),
        places_(places),
        function_(function),
        parameters_(parameters),
        language_(debug_data.unit_of(function).language()),
        trust_(trust_in_convention(debug_data, function, language_)),
        result_(parameters.size()),
        signature_{.result = abi_value(debug_data, function, language_),
                   .is_rust = language_ == kRust,
                   .splits_wide_integers = !is_made_by_gcc(debug_data.unit_of(function).unit())} {}

  std::vector<Place> places() && {
    for (size_t i = 0; i < parameters_.size(); ++i) add(i);
    use_convention();
    if (std::any_of(all_.begin(), all_.end(), [](const Located& located) { return located.is_unset; }))
      add_stored(debug_data_, places_, function_, parameters_, all_, result_);
    for (size_t i = 0; i < result_.size(); ++i)
      if (is_unknown(result_[i]) && all_[i].is_told) result_[i].why = Unknown::kNotTold;
    return std::move(result_);
  }

 private:
  void add(size_t i) {
    AbiValue value = abi_value(debug_data_, parameters_[i], language_);
    const uint64_t size = value.type ? script::resolve(*value.type).size : 0;
    Located& located = all_.emplace_back(places_.locate(parameters_[i], size));
    if (located.passed == Located::Passed::kAsValue) value.passing = AbiValue::Passing::kByValue;
    if (located.passed == Located::Passed::kAsPointer) value.passing = AbiValue::Passing::kByReference;
    if (!located.is_unset && is_in_own_frame(located.place)) located.is_unset = true;
    if (!located.is_unset) result_[i] = located.place;
    if (!located.is_told && is_compilers_own(i)) return;
    signature_.arguments.push_back(value);
    passed_.push_back(i);
  }

  // Constructors and destructors have parameters that some of their copies do not get.
  bool is_compilers_own(size_t i) {
    const Dwarf_Die first = original(parameters_[i]);
    if (!flag(first, DW_AT_artificial)) return false;
    const std::string_view name = name_of(first);
    if (trust_ < Trust::kIfUsed) return true;
    if (name == "__vtt_parm" || name == "vtt") trust_ = Trust::kNone;
    return name == "__in_chrg" || trust_ == Trust::kNone;
  }

  void use_convention() {
    const auto& arguments = signature_.arguments;
    if (is_wide_vector(signature_.result) || std::any_of(arguments.begin(), arguments.end(), is_wide_vector))
      signature_.vector_size = vector_size(debug_data_, function_);
    std::vector<Place> by_convention = script::argument_places(signature_);
    correct_stack(by_convention);
    for (size_t k = 0; k < passed_.size(); ++k) look_for_contradiction(passed_[k], by_convention[k]);
    if (trust_ == Trust::kIfAllAgree) trust_ = trust_if_all_agree(by_convention);
    for (size_t k = 0; k < passed_.size(); ++k) {
      const size_t i = passed_[k];
      if (is_promoted(function_, language_, signature_.arguments[k].type))
        result_[i] = {};  // gcc tells the register as if it had a float
      else if (!is_known(i) && !is_unknown(by_convention[k]))
        add_certain(i, by_convention[k]);
    }
  }

  // The distance of arguments on the stack depends on the alignment of their types, which debugging
  // information does not give for packed ones. The first argument is next to the return address. From there
  // on frames show the distances, though not where they begin.
  void correct_stack(std::vector<Place>& by_convention) {
    std::optional<int64_t> base;
    bool is_right = true;
    for (size_t k = 0; k < passed_.size(); ++k) {
      const auto slot = stack_slot(by_convention[k]);
      if (!slot) continue;
      // A number may have been copied to the frame, a structure stays where it is.
      const Located& located = all_[passed_[k]];
      const bool stays = script::is_aggregate(script::resolve(*signature_.arguments[k].type));
      const auto told = stays || !located.is_unset ? stack_slot(located.place) : std::nullopt;
      if (told && !located.is_unset) base = 0;
      if (told && located.is_unset && *slot == sizeof(uint64_t)) base = *told - *slot;
      if (told && base && *told - *base != *slot) {
        is_right = false;
        by_convention[k] = script::entry_stack_slot(*told - *base);
      } else if (!is_right) {
        by_convention[k] = {};
      }
    }
  }

  // clang may tell one register for the whole function that its first instructions have yet to load.
  void look_for_contradiction(size_t i, const Place& by_convention) {
    if (all_[i].is_unset || !contradicts(result_[i], by_convention)) return;
    const bool is_loaded_later = trust_ != Trust::kNone && is_unknown(only_used(result_[i], uses())) &&
                                 is_whole(only_used(by_convention, uses()));
    if (!is_loaded_later) trust_ = Trust::kNone;
    if (is_loaded_later) all_[i].is_unset = true, result_[i] = {};
  }

  // clang passes the members of a structure in memory each by itself if it knows all callers.
  bool may_be_taken_apart(const std::vector<Place>& by_convention) const {
    for (size_t k = 0; k < passed_.size(); ++k) {
      const script::Type* type = signature_.arguments[k].type;
      const auto slot =
          type && script::is_aggregate(script::resolve(*type)) ? stack_slot(by_convention[k]) : std::nullopt;
      if (slot && stack_slot(result_[passed_[k]]) != slot && language_ != kRust) return true;
    }
    return false;
  }

  // None was removed if all of them are told, or if all are used where the convention has them.
  Trust trust_if_all_agree(const std::vector<Place>& by_convention) {
    if (may_be_taken_apart(by_convention)) return Trust::kNone;
    if (std::all_of(passed_.begin(), passed_.end(), [&](size_t i) { return all_[i].is_told; }))
      return Trust::kIfAllAgree;
    const auto is_used = [&](const Place& place) {
      return !stack_slot(place) && is_whole(only_used(place, uses()));
    };
    const bool all_used = std::all_of(by_convention.begin(), by_convention.end(), is_used);
    return all_used && language_ != kRust ? Trust::kIfUsed : Trust::kNone;
  }

  // Nothing is told of a parameter that is not used, but not only of those. gcc loads its register all the
  // same, but need not store what that points to. clang does neither, for each word of a structure by itself.
  void add_certain(size_t i, const Place& by_convention) {
    const bool is_passed = trust_ == Trust::kFull && (all_[i].is_told || !is_by_reference(by_convention));
    Place place =
        is_passed || trust_ == Trust::kIfAllAgree ? by_convention : only_used(by_convention, uses());
    if (is_whole(place) || is_unknown(result_[i])) result_[i] = std::move(place);
  }

  const x86::ArgumentUses& uses() {
    if (!uses_)
      uses_ = x86::argument_uses(code_at(debug_data_.program(), FileAddr(entry_of(function_).value_or(0))));
    return *uses_;
  }

  // Without help of the convention.
  bool is_known(size_t i) const {
    if (trust_ == Trust::kNone) return true;
    return trust_ == Trust::kIfAllAgree ? !all_[i].is_unset : is_whole(result_[i]);
  }

  DebugData& debug_data_;
  const VariablePlaces& places_;
  const Dwarf_Die& function_;
  const std::vector<Dwarf_Die>& parameters_;
  uint64_t language_;
  Trust trust_;
  std::vector<Place> result_;
  AbiSignature signature_;
  std::vector<size_t> passed_;  // by the convention, in its order
  std::vector<Located> all_;
  std::optional<x86::ArgumentUses> uses_;
};

}  // namespace

std::vector<Place> entry_places(DebugData& debug_data, const VariablePlaces& places,
                                const Dwarf_Die& function, const std::vector<Dwarf_Die>& parameters) {
  return EntryArguments(debug_data, places, function, parameters).places();
}

}  // namespace blip::dwarf
