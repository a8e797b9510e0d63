// SPDX-License-Identifier: MIT
#include "dwarf/variable_places.h"

#include <algorithm>

#include "dwarf/units/stack_distance.h"

namespace blip::dwarf {

using script::Op;
using script::Place;

namespace {

constexpr uint64_t kRsp = 4, kRbp = 5;  // as script numbers them

bool uses_frame_register(const Place& place) {
  const auto in = [](const script::Code& code) {
    return std::any_of(code.nodes.begin(), code.nodes.end(), [](const script::Node& node) {
      return node.op == Op::kRegister && (node.value == kRsp || node.value == kRbp);
    });
  };
  if (place.kind == Place::Kind::kPieces)
    return std::any_of(place.pieces.begin(), place.pieces.end(),
                       [&](const Place::Piece& piece) { return in(piece.place.code); });
  return place.kind == Place::Kind::kAddress && in(place.code);
}

// True if a register that is not the frame's leads to memory: perhaps to the frame. Values of the entry do not
// count, whose code reads only what is there.
bool is_by_other_register(std::span<const Dwarf_Op> ops, const Place& place) {
  const auto is_other = [](const Dwarf_Op& op) {
    return op.atom >= DW_OP_breg0 && op.atom <= DW_OP_breg15 && op.atom != DW_OP_breg6 &&
           op.atom != DW_OP_breg7;
  };
  const auto is_load = [](const Dwarf_Op& op) {
    return op.atom == DW_OP_deref || op.atom == DW_OP_deref_size || op.atom == DW_OP_deref_type ||
           op.atom == DW_OP_GNU_deref_type;
  };
  const bool reads = place.kind != Place::Kind::kValue || std::any_of(ops.begin(), ops.end(), is_load);
  return reads && std::any_of(ops.begin(), ops.end(), is_other);
}

// In the caller's frame: an argument that was passed in memory.
bool is_callers(std::span<const Dwarf_Op> ops, const FrameRules& frame) {
  return ops.size() == 1 && ops[0].atom == DW_OP_fbreg && static_cast<int64_t>(ops[0].number) >= 0 &&
         !frame.base_is_register();
}
bool is_callers(const Operations& moved, const FrameRules& frame) {
  return moved.size() == 1 && moved[0].atom == frame.cfa[0].atom &&
         static_cast<int64_t>(moved[0].number - frame.cfa[0].number) >= 0;
}

// gcc tells where arguments are at the entry by a range that is empty, if an instruction begins there that
// moves them. It is also how values of an inlined function's parameters are told that it changes at once,
// without an instruction.
bool find_empty_range(const Dwarf_Attribute& location, FileAddr pc, Dwarf_Op*& ops, size_t& count) {
  bool found = false;
  for_each_location(location, [&](const LocationEntry& entry) {
    found = entry.begin == entry.end && entry.begin == pc.value;
    if (found) ops = entry.ops, count = entry.count;
    return !found;
  });
  return found;
}

// The location relative to the CFA, where one location for the whole function names a register that holds the
// CFA in a part of it. Empty if that is not so.
Operations by_cfa(std::span<const Dwarf_Op> ops, const FrameRules& frame) {
  constexpr unsigned kFirst = 10, kSecond = 13;
  const unsigned reg = ops.empty() ? 0U : ops[0].atom - unsigned{DW_OP_breg0};
  if ((reg != kFirst && reg != kSecond) || !frame.holds_cfa(reg)) return {};
  Operations result(ops.begin(), ops.end());
  result[0].atom = DW_OP_call_frame_cfa;
  result.insert(result.begin() + 1, {.atom = DW_OP_plus_uconst, .number = ops[0].number});
  return result;
}

Located::Passed passed(std::span<const Dwarf_Op> ops, const Located& located) {
  if (located.is_unset) {
    if (ops.size() == 1) return Located::Passed::kAsValue;
    if (ops.size() == 2 && ops[1].atom == DW_OP_deref) return Located::Passed::kAsPointer;
    return Located::Passed::kNotShown;
  }
  if (located.place.kind == Place::Kind::kAddress && located.place.code.nodes.size() == 1 &&
      !uses_frame_register(located.place))
    return Located::Passed::kAsPointer;
  return located.place.kind == Place::Kind::kOptimizedOut ? Located::Passed::kNotShown
                                                          : Located::Passed::kAsValue;
}

Place constant(Dwarf_Attribute value, uint64_t size) {
  Dwarf_Block block;
  if (::dwarf_formblock(&value, &block) == 0) return constant_place({block.data, block.length}, size);
  const auto bits = constant_bits(value);
  if (!bits || size > sizeof(uint64_t)) return {};
  Place place{.kind = Place::Kind::kValue};
  place.code.constant(*bits);
  return place;
}

}  // namespace

bool is_list(Dwarf_Attribute location) {
  switch (::dwarf_whatform(&location)) {
    case DW_FORM_exprloc:
    case DW_FORM_block:
    case DW_FORM_block1:
    case DW_FORM_block2:
    case DW_FORM_block4:
      return false;
    default:
      return true;
  }
}

VariablePlaces::VariablePlaces(const CodeLocation& site, FrameRules frame, EntryValues* callers)
    : site_(site), frame_(std::move(frame)), callers_(callers) {}

ExpressionSurroundings VariablePlaces::surroundings() const {
  return {.load_bias = site_.load_bias,
          .is_entry = site_.is_entry,
          .tls_offset = site_.tls_offset,
          .frame_base = &frame_.frame_base,
          .cfa = &frame_.cfa,
          .frame = callers_};
}

std::optional<script::Code> VariablePlaces::value(Dwarf_Attribute attribute) const {
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  if (frame_.in_prologue || ::dwarf_getlocation(&attribute, &ops, &count) != 0 || count == 0)
    return std::nullopt;
  const ExpressionSurroundings around = surroundings();
  return Expression(around, &attribute).value(Operations(ops, ops + count));
}

Located VariablePlaces::by_location(Dwarf_Attribute location, uint64_t size, bool just_begins) const {
  Located located{.place = {}, .is_told = true};
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  if (!(just_begins && is_list(location) && find_empty_range(location, site_.pc, ops, count)) &&
      ::dwarf_getlocation_addr(&location, site_.pc.value, &ops, &count, 1) != 1 &&
      !(site_.is_entry && find_empty_range(location, site_.pc, ops, count)))
    return located;
  const ExpressionSurroundings around = surroundings();
  Expression expression(around, &location);
  const Operations of_cfa = is_list(location) ? Operations() : by_cfa({ops, count}, frame_);
  if (!of_cfa.empty()) return {.place = without_lost(expression.place(of_cfa, size)), .is_told = true};
  const std::span<const Dwarf_Op> all(ops, count);
  const Operations moved = frame_.by_cfa_register(all);
  const bool is_set =
      !frame_.in_prologue || is_callers(moved, frame_) || (is_list(location) && !site_.is_entry);
  if (!moved.empty() && is_set) {
    located.place = expression.place(moved, size);
    located.passed = passed(all, located);
    return located;
  }
  located.place = expression.place(all, size);
  located.passed = passed(all, located);
  // Behind the epilogue the registers are the caller's, and what lay there is some bytes from the CFA: gone.
  if (!frame_.in_prologue && !frame_.is_body && !is_list(location) && !expression.use().frame_base &&
      uses_frame_register(located.place))
    located.place = script::unknown_place(Unknown::kFrameGone);
  if (frame_.is_cut && is_list(location) && is_by_other_register(all, located.place))
    located.place = script::unknown_place(Unknown::kFrameGone);
  if (!frame_.in_prologue || is_callers(all, frame_)) return located;
  // A list says from where on it is true, except that a register that is the frame's base is not set up yet.
  const bool asks_base = expression.use().frame_base;
  located.is_unset = is_list(location) ? asks_base && (frame_.base_is_register() || all.size() == 1)
                                       : asks_base || uses_frame_register(located.place);
  located.is_unset |= !moved.empty();
  located.passed = passed(all, located);
  return located;
}

Located VariablePlaces::locate(const Dwarf_Die& variable, uint64_t size, bool just_begins) const {
  if (auto location = attribute(variable, DW_AT_location)) return by_location(*location, size, just_begins);
  if (auto value = attribute(variable, DW_AT_const_value)) return {.place = constant(*value, size)};
  return {};
}

Place VariablePlaces::place(const Dwarf_Die& variable, uint64_t size, bool just_begins) const {
  Located located = locate(variable, size, just_begins);
  return located.is_unset ? script::unknown_place(Unknown::kNotSet)
                          : without_lost(std::move(located.place), frame_.rbp_above_rsp);
}

}  // namespace blip::dwarf
