// SPDX-License-Identifier: MIT
#include "dwarf/nodes.h"

#include "script/verify.h"

#include <algorithm>
#include <vector>

namespace blip::dwarf {

using script::Node;
using script::Op;

namespace {

constexpr size_t kMostNodes = 64;
constexpr uint32_t kDeepest = 12;  // whole programs may have script::kMaxDepth

bool is_commutative(Op op) {
  return op == Op::kAdd || op == Op::kMul || op == Op::kAnd || op == Op::kOr || op == Op::kXor;
}

}  // namespace

Nodes::Id Nodes::plus(Id a, uint64_t distance) {
  if (distance == 0) return a;
  const Node base = code_.nodes[a];
  if (base.op == Op::kConstant) return constant(base.value + distance);
  if (base.op == Op::kAdd && code_.nodes[base.b].op == Op::kConstant)
    return plus(base.a, code_.nodes[base.b].value + distance);
  const Id n = constant(distance);
  return add({.op = Op::kAdd, .a = a, .b = n});
}

Nodes::Id Nodes::binary(Op op, Id a, Id b, bool is_signed) {
  if (is_commutative(op) && code_.nodes[a].op == Op::kConstant) std::swap(a, b);
  const Node right = code_.nodes[b];
  if (right.op == Op::kConstant) {
    if (op == Op::kAdd) return plus(a, right.value);
    if (op == Op::kSub) return plus(a, 0 - right.value);
  }
  return add({.op = op, .is_signed = is_signed, .a = a, .b = b});
}

Nodes::Id Nodes::extend(Id a, unsigned width, bool is_signed) {
  if (width >= sizeof(uint64_t)) return a;
  return add({.op = Op::kExtend, .width = static_cast<uint8_t>(width), .is_signed = is_signed, .a = a});
}

script::Code Nodes::extract(Id result) const {
  constexpr Id kUnused = UINT32_MAX;
  std::vector<bool> used(result + 1);
  used[result] = true;
  for (Id i = result + 1; i-- > 0;) {
    const uint32_t operands = used[i] ? script::arity(code_.nodes[i].op) : 0;
    if (operands > 0) used[code_.nodes[i].a] = true;
    if (operands > 1) used[code_.nodes[i].b] = true;
  }
  script::Code code;
  std::vector<Id> renamed(result + 1, kUnused);
  std::vector<uint32_t> depths(result + 1, 1);
  for (Id i = 0; i <= result; ++i) {
    if (!used[i]) continue;
    Node node = code_.nodes[i];
    const uint32_t operands = script::arity(node.op);
    if (operands > 0) depths[i] = std::max(depths[i], depths[node.a] + 1);
    if (operands > 1) depths[i] = std::max(depths[i], depths[node.b] + 1);
    if (depths[i] > kDeepest || code.nodes.size() >= kMostNodes) return {};
    if (operands > 0) node.a = renamed[node.a];
    if (operands > 1) node.b = renamed[node.b];
    renamed[i] = code.add(node);
  }
  return code;
}

}  // namespace blip::dwarf
