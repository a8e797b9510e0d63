// SPDX-License-Identifier: MIT
// Handles what returns ask of the entry of their call: entry(x).
#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "script/checker.h"
#include "script/types/diagnostics.h"
#include "script/types/members.h"

namespace blip::script {

namespace {

constexpr uint64_t kWord = 8;
constexpr uint64_t kLargestKept = 64;  // bytes of a structure

class Keeper {
 public:
  Keeper(EntryValues& entries, Access& there, Access& here) : entries_(entries), there_(there), here_(here) {}

  Operand value(uint32_t node, const Type& type) {
    return here_.value(here_.builder().add({.op = Op::kEntryValue, .value = entries_.keep(node)}), type);
  }

  Result<Operand> scalar(const Operand& a) {
    TRY(const uint32_t node, a.bit_size ? there_.number(a) : there_.bits(a));
    return value(node, *a.type);
  }

  // Word by word; those at the end are smaller.
  Result<Operand> structure(const Operand& a) {
    const uint64_t size = resolve(*a.type).size;
    if (size == 0 || size > kLargestKept)
      return refusal(fmt::format(
          "{} is too large to be kept from the entry: entry(a.member) keeps one member", to_string(*a.type)));
    Operand whole{.kind = Operand::Kind::kPieces, .type = a.type};
    for (uint64_t at = 0; at < size;) {
      const uint64_t part = std::bit_floor(std::min(size - at, kWord));
      TRY(const uint32_t node, there_.bits(there_.part(a, at, int_type(part, false))));
      whole.pieces.push_back({value(node, *a.type), part});
      at += part;
    }
    if (whole.pieces.size() > 1) return whole;
    return here_.value(whole.pieces[0].part.node, *a.type);
  }

 private:
  EntryValues& entries_;
  Access& there_;
  Access& here_;
};

}  // namespace

uint64_t EntryValues::keep(uint32_t node) {
  const auto found = std::find(nodes.begin(), nodes.end(), node);
  if (found != nodes.end()) return static_cast<uint64_t>(found - nodes.begin());
  nodes.push_back(node);
  return nodes.size() - 1;
}

Result<Operand> keep_operand(EntryValues& entries, Access& there, const Operand& operand, Access& here) {
  Keeper keeper(entries, there, here);
  if (operand.kind == Operand::Kind::kOptimizedOut) return Operand{.type = operand.type, .why = operand.why};
  const bool has_type = !is_text(operand) && operand.kind != Operand::Kind::kSlice;
  if (has_type && resolve(*operand.type).kind == TypeKind::kArray)
    return refusal("an array is too large to be kept from the entry: entry(a[0]) keeps one element");
  const size_t before = entries.nodes.size();
  const bool is_whole = has_type && is_aggregate(resolve(*operand.type));
  auto kept = is_whole ? keeper.structure(operand) : keeper.scalar(operand);
  if (kept && entries.nodes.size() > kMaxEntryValues)
    kept = refusal(
        fmt::format("{} words of the entry can be kept for a return, and these are more", kMaxEntryValues));
  if (!kept) entries.nodes.resize(before);
  return kept;
}

}  // namespace blip::script
