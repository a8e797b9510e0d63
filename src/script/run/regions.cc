// SPDX-License-Identifier: MIT
#include "script/run/regions.h"

#include <algorithm>

namespace blip::script {

Regions::Regions(const Block& block) {
  const auto count = static_cast<uint32_t>(block.nodes.size());
  regions_.assign(count, kNone);
  places_.assign(count, 0);
  uses_.assign(count, 0);
  last_uses_.assign(count, 0);
  depths_.assign(2 * count + 1, 0);
  nodes_.resize(2 * count + 1);
  if (block.end.node != kNone) use(block.end.node, kRoot, count);
  // All uses of a node come behind it.
  for (uint32_t i = count; i-- > 0;) {
    const Node& n = block.nodes[i];
    if (is_in_order(n.op)) regions_[i] = kRoot;
    const uint32_t region = regions_[i];
    if (region == kNone) continue;
    places_[i] = region == kRoot ? i : places_[(region - 1) / 2];
    nodes_[region].push_back(i);
    if (!is_lazy(n.op)) {
      for_each_use(block, n, [&](uint32_t used) { use(used, region, places_[i]); });
      continue;
    }
    use(n.a, region, places_[i]);
    for (uint32_t side = 0; side < 2; ++side) depths_[of_side(i, side)] = depths_[region] + 1;
    use(n.b, of_side(i, 0), places_[i]);
    if (n.op == Op::kSelect) use(n.c, of_side(i, 1), places_[i]);
  }
  for (auto& nodes : nodes_) std::reverse(nodes.begin(), nodes.end());
}

void Regions::use(uint32_t node, uint32_t region, uint32_t place) {
  ++uses_[node];
  last_uses_[node] = std::max(last_uses_[node], place);
  regions_[node] = regions_[node] == kNone ? region : common(regions_[node], region);
}

uint32_t Regions::common(uint32_t a, uint32_t b) const {
  while (a != b) {
    if (depths_[a] < depths_[b]) std::swap(a, b);
    a = parent(a);
  }
  return a;
}

}  // namespace blip::script
