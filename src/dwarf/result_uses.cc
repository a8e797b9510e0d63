// SPDX-License-Identifier: MIT
// Each call is confirmed by its entry in the debugging information, if that tells calls. The code behind it
// is followed to the next call: a register that is read before it is written holds a result. At the caller's
// own end it holds one if the caller returns it, which is certain if others can call the caller, or if its
// callers take it.
#include "dwarf/result_uses.h"

#include <unordered_map>

#include "dwarf/debug_data.h"
#include "dwarf/stored_arguments.h"
#include "dwarf/variable_places.h"
#include "x86/flow/argument_uses.h"

namespace blip::dwarf {

using script::Op;
using script::Place;

namespace {

constexpr size_t kMostFunctions = 100;  // callers' callers, and so on
constexpr size_t kMostCalls = 200;

void join(x86::ArgumentUses& all, const x86::ArgumentUses& more) {
  all.general |= more.general;
  all.vectors |= more.vectors;
}

bool has_all(const x86::ArgumentUses& all, const x86::ArgumentUses& wanted) {
  return (all.general & wanted.general) == wanted.general && (all.vectors & wanted.vectors) == wanted.vectors;
}

x86::ArgumentUses result_registers(const Place& place) {
  x86::ArgumentUses registers;
  for (const Place::Piece& piece : place.pieces) join(registers, result_registers(piece.place));
  for (const script::Node& node : place.code.nodes) {
    if (node.op == Op::kResult) registers.general |= 1;
    if (node.op == Op::kRegister) registers.general |= static_cast<uint16_t>(1U << node.value);
    if (node.op == Op::kVector || node.op == Op::kVectorHigh)
      registers.vectors |= static_cast<uint16_t>(1U << node.value);
  }
  return registers;
}

class Search {
 public:
  explicit Search(DebugData& debug_data) : debug_data_(debug_data) {}

  x86::ArgumentUses taken(const Dwarf_Die& function) {
    const auto [known, is_new] = known_.try_emplace(function.addr);  // of one that calls itself: none so far
    if (!is_new || known_.size() > kMostFunctions) return known->second;
    const x86::ArgumentUses all = look_at_callers(function);
    return known_[function.addr] = all;
  }

 private:
  x86::ArgumentUses look_at_callers(const Dwarf_Die& function) {
    x86::ArgumentUses all;
    const auto entry = entry_of(function);
    if (!entry) return all;
    std::vector<FileAddr> calls = debug_data_.calls().index().calls_of(FileAddr(*entry));
    if (calls.size() > kMostCalls) calls.resize(kMostCalls);
    for (const FileAddr behind : calls)
      if (const auto caller = debug_data_.calls().caller_at(behind))
        join(all, x86::argument_uses(code_at(debug_data_.program(), behind), certain_results(*caller)));
    return all;
  }

  // The result registers of the caller's own result.
  x86::ArgumentUses certain_results(const Dwarf_Die& caller) {
    const x86::ArgumentUses own = result_registers(conventional_result(debug_data_, caller));
    return !may_lose_result(debug_data_, caller) || has_all(taken(caller), own) ? own : x86::ArgumentUses{};
  }

  DebugData& debug_data_;
  std::unordered_map<const void*, x86::ArgumentUses> known_;
};

}  // namespace

bool is_result_taken(DebugData& debug_data, const Dwarf_Die& function, const Place& place) {
  return has_all(Search(debug_data).taken(function), result_registers(place));
}

}  // namespace blip::dwarf
