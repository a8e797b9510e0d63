// SPDX-License-Identifier: MIT
// Nodes of an expression while it is put together: constants are added up where they meet.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "script/ir/ir.h"
#include "script/types/scope.h"

namespace blip::dwarf {

class Nodes {
 public:
  using Id = uint32_t;

  Id constant(uint64_t value) { return code_.constant(value); }
  Id add(const script::Node& node) { return code_.add(node); }
  Id binary(script::Op op, Id a, Id b, bool is_signed = false);
  Id plus(Id a, uint64_t distance);
  Id extend(Id a, unsigned width, bool is_signed);
  // The rows may come in any order.
  Id lookup(Id key, script::Table table);
  // The last node of another code, with all it needs. `instead` may give a node for one of its nodes.
  Id append(const script::Code& code,
            const std::function<std::optional<Id>(const script::Node&)>& instead = {});
  const script::Node& operator[](Id id) const { return code_.nodes[id]; }
  size_t size() const { return code_.nodes.size(); }

  // Returns the nodes that `result` needs, with `result` last; an empty code if there are too many.
  script::Code extract(Id result) const;

 private:
  script::Code code_;
};

}  // namespace blip::dwarf
