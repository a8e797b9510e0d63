// SPDX-License-Identifier: MIT
#include "dwarf/units/stack_distance.h"

#include <algorithm>
#include <cstdlib>

namespace blip::dwarf {

using script::Op;
using script::Place;

std::vector<std::optional<int64_t>> distances_from_rsp(const script::Code& code, std::optional<int64_t> rbp) {
  constexpr uint64_t kRsp = 4, kRbp = 5;  // as script numbers them
  std::vector<std::optional<int64_t>> all;
  for (const script::Node& node : code.nodes) {
    auto& distance = all.emplace_back();
    if (node.op == Op::kRegister && node.value == kRsp) distance = 0;
    if (node.op == Op::kRegister && node.value == kRbp) distance = rbp;
    const bool is_sum = node.op == Op::kAdd || node.op == Op::kSub || node.op == Op::kAnd;
    if (!is_sum || code.nodes[node.b].op != Op::kConstant) continue;
    const auto constant = static_cast<int64_t>(code.nodes[node.b].value);
    if (!all[node.a] || constant < kFarBelow / 2 || constant > -kFarBelow / 2) continue;
    if (node.op == Op::kAdd) distance = *all[node.a] + constant;
    if (node.op == Op::kSub) distance = *all[node.a] - constant;
    if (node.op == Op::kAnd && constant < 0) distance = *all[node.a] + constant + 1;  // rounded down
  }
  return all;
}

Place without_lost(Place place, std::optional<int64_t> rbp) {
  constexpr int64_t kRedZone = 128;
  for (Place::Piece& piece : place.pieces) piece.place = without_lost(std::move(piece.place), rbp);
  if (place.code.nodes.empty()) return place;
  const auto distances = distances_from_rsp(place.code, rbp);
  const auto is_lost = [&](uint32_t node) { return distances[node] && *distances[node] < -kRedZone; };
  const bool is_there = place.kind == Place::Kind::kAddress;
  const Place lost = script::unknown_place(Unknown::kFrameGone);
  if (is_there && is_lost(static_cast<uint32_t>(distances.size() - 1))) return lost;
  const bool reads_lost =
      std::any_of(place.code.nodes.begin(), place.code.nodes.end(),
                  [&](const script::Node& node) { return node.op == Op::kLoad && is_lost(node.a); });
  return reads_lost ? lost : place;
}

}  // namespace blip::dwarf
