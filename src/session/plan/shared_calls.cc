// SPDX-License-Identifier: MIT
#include "session/plan/shared_calls.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "jit/program/hit_needs.h"
#include "script/ir/verify.h"

namespace blip::session {

namespace {

using script::Code;
using script::HitProgram;
using script::Node;
using script::Op;

template <typename T>
uint32_t place_in(std::vector<T>& all, const T& one) {
  const auto found = std::find(all.begin(), all.end(), one);
  const auto place = static_cast<uint32_t>(found - all.begin());
  if (found == all.end()) all.push_back(one);
  return place;
}

bool has_text(Op op) { return op == Op::kTextEqual || op == Op::kTextPrefix || op == Op::kBytesEqual; }

// Adds the values of `more`, those that are there already once; tells where each of them is.
std::vector<uint32_t> merge_values(HitProgram& all, const HitProgram& more) {
  std::vector<uint32_t> nodes;
  for (Node node : more.code.nodes) {
    uint32_t* const operands[] = {&node.a, &node.b, &node.c};
    for (unsigned i = 0; i < script::arity(node.op); ++i) *operands[i] = nodes[*operands[i]];
    if (has_text(node.op)) node.value = place_in(all.code.texts, more.code.texts[node.value]);
    nodes.push_back(place_in(all.code.nodes, node));
  }
  std::vector<uint32_t> numbers;
  for (script::Output output : more.outputs) {
    output.node = nodes[output.node];
    numbers.push_back(place_in(all.outputs, output));
  }
  return numbers;
}

bool is_too_much(const HitProgram& kept) {
  const jit::HitNeeds needs = jit::output_needs(kept);
  return kept.outputs.size() > script::kMaxEntryValues || kept.code.nodes.size() > script::kMaxNodes ||
         needs.words > jit::kMaxHitWords || needs.code_size > jit::kMaxHitCode;
}

}  // namespace

SharedCalls::SharedCalls(const Options& options, std::span<const Target> targets,
                         std::span<const HitData> data, std::vector<std::string>& refusals) {
  static const HitProgram kNothing;
  const auto wanted_by = [&](size_t i) -> const HitProgram& {
    return data.empty() ? kNothing : data[i].kept;
  };
  std::map<std::pair<size_t, FileAddr>, size_t> known;
  for (size_t i = 0; i < targets.size(); ++i) {
    if (!refusals[i].empty() || options.probes[targets[i].request].kind != ProbeKind::kReturn) continue;
    const auto [first, is_new] = known.try_emplace({targets[i].module, targets[i].point.addr}, i);
    if (is_new) continue;
    const size_t leader = first->second;
    HitProgram all;
    std::vector<uint32_t> numbers = merge_values(all, wanted_by(leader));
    if (const auto made = kept_.find(leader); made != kept_.end()) {
      all = made->second;
      numbers = numbers_.at(leader);
    }
    std::vector<uint32_t> mine = merge_values(all, wanted_by(i));
    if (is_too_much(all)) {
      refusals[i] = fmt::format(
          "several probes ask for values of its entry, and one call can keep no more than {}: ask for fewer",
          script::kMaxEntryValues);
      continue;
    }
    leaders_[i] = leader;
    kept_[leader] = std::move(all);
    numbers_[leader] = std::move(numbers);
    numbers_[i] = std::move(mine);
  }
}

size_t SharedCalls::leader(size_t target) const {
  const auto found = leaders_.find(target);
  return found == leaders_.end() ? target : found->second;
}

HitProgram SharedCalls::renumbered(size_t target, HitProgram hit) const {
  const std::vector<uint32_t>& numbers = numbers_.at(target);
  for (Node& node : hit.code.nodes)
    if (node.op == Op::kEntryValue) node.value = numbers[node.value];
  return hit;
}

}  // namespace blip::session
