// SPDX-License-Identifier: MIT
// Where in a block each node is computed. A lazy node (&&, ||, ?:) has a region for each side that it may not look at. A node
// belongs to the innermost region that has all its uses, so that it is computed at most once, and not at all if nobody looks.
#pragma once

#include "script/blocks/operations.h"

namespace blip::script {

class Regions {
 public:
  explicit Regions(const Block& block);

  static constexpr uint32_t kRoot = 0;
  // The region of a lazy node's operand b (side 0) or c (side 1).
  static uint32_t of_side(uint32_t lazy, uint32_t side) { return 1 + 2 * lazy + side; }

  // The nodes of a region, in order.
  const std::vector<uint32_t>& nodes(uint32_t region) const { return nodes_[region]; }
  uint32_t uses(uint32_t node) const { return uses_[node]; }
  // The last place in the root's order where the node's value is looked at: that of a node, or behind all.
  uint32_t last_use(uint32_t node) const { return last_uses_[node]; }

 private:
  void use(uint32_t node, uint32_t region, uint32_t place);
  uint32_t parent(uint32_t region) const { return regions_[(region - 1) / 2]; }
  uint32_t common(uint32_t a, uint32_t b) const;

  std::vector<uint32_t> regions_, places_;  // of each node; kNone: nothing uses it
  std::vector<uint32_t> uses_, last_uses_;
  std::vector<uint32_t> depths_;  // of each region
  std::vector<std::vector<uint32_t>> nodes_;
};

}  // namespace blip::script
