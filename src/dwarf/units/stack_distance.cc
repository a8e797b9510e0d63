// SPDX-License-Identifier: MIT
#include "dwarf/units/stack_distance.h"

#include <algorithm>
#include <cstdlib>

namespace blip::dwarf {

using script::Op;
using script::Place;

std::vector<std::optional<int64_t>> distances_from_rsp(const script::Code& code, bool rbp_is_far_below) {
  constexpr uint64_t kRsp = 4, kRbp = 5;  // as script numbers them
  constexpr int64_t kFarBelow = -(int64_t{1} << 40);
  std::vector<std::optional<int64_t>> all;
  for (const script::Node& node : code.nodes) {
    auto& distance = all.emplace_back();
    if (node.op == Op::kRegister && node.value == kRsp) distance = 0;
    if (node.op == Op::kRegister && node.value == kRbp && rbp_is_far_below) distance = kFarBelow;
    if (node.op != Op::kAdd || code.nodes[node.b].op != Op::kConstant) continue;
    const auto by = static_cast<int64_t>(code.nodes[node.b].value);
    if (all[node.a] && by > kFarBelow / 2 && by < -kFarBelow / 2) distance = *all[node.a] + by;
  }
  return all;
}

Place without_lost(Place place) {
  constexpr int64_t kRedZone = 128;
  for (Place::Piece& piece : place.pieces) piece.place = without_lost(std::move(piece.place));
  if (place.code.nodes.empty()) return place;
  const auto distances = distances_from_rsp(place.code);
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
