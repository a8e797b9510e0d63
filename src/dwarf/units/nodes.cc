// SPDX-License-Identifier: MIT
#include "dwarf/units/nodes.h"

#include "script/ir/verify.h"

#include <algorithm>
#include <vector>

namespace blip::dwarf {

using script::Node;
using script::Op;

namespace {

constexpr size_t kMostNodes = 160;
constexpr uint32_t kDeepest = 16;  // whole programs may have script::kMaxDepth

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

Nodes::Id Nodes::lookup(Id key, script::Table table) {
  std::sort(table.begin(), table.end());
  const auto known = std::find(code_.tables.begin(), code_.tables.end(), table);
  const auto number = static_cast<uint64_t>(known - code_.tables.begin());
  if (known == code_.tables.end()) code_.tables.push_back(std::move(table));
  return add({.op = Op::kLookup, .a = key, .value = number});
}

namespace {

// The node with its operands renamed.
Node with_operands(Node node, const std::vector<Nodes::Id>& names) {
  const uint32_t operands = script::arity(node.op);
  if (operands > 0) node.a = names[node.a];
  if (operands > 1) node.b = names[node.b];
  if (operands > 2) node.c = names[node.c];
  return node;
}

template <typename Look>
void for_each_operand(const Node& node, Look look) {
  const uint32_t all[] = {node.a, node.b, node.c};
  for (uint32_t i = 0; i < script::arity(node.op); ++i) look(all[i]);
}

}  // namespace

Nodes::Id Nodes::append(const script::Code& code,
                        const std::function<std::optional<Id>(const Node&)>& instead) {
  std::vector<Id> names;
  for (const Node& node : code.nodes) {
    const auto other = instead ? instead(node) : std::nullopt;
    if (other)
      names.push_back(*other);
    else if (node.op == Op::kLookup)
      names.push_back(lookup(names[node.a], code.tables[node.value]));
    else
      names.push_back(add(with_operands(node, names)));
  }
  return names.back();
}

script::Code Nodes::extract(Id result) const {
  std::vector<bool> used(result + 1);
  used[result] = true;
  for (Id i = result + 1; i-- > 0;)
    if (used[i]) for_each_operand(code_.nodes[i], [&](Id operand) { used[operand] = true; });
  script::Code code;
  std::vector<Id> names(result + 1);
  std::vector<uint32_t> depths(result + 1, 1);
  for (Id i = 0; i <= result; ++i) {
    if (!used[i]) continue;
    for_each_operand(code_.nodes[i],
                     [&](Id operand) { depths[i] = std::max(depths[i], depths[operand] + 1); });
    if (depths[i] > kDeepest || code.nodes.size() >= kMostNodes) return {};
    Node node = with_operands(code_.nodes[i], names);
    if (node.op == Op::kLookup) {
      code.tables.push_back(code_.tables[node.value]);
      node.value = code.tables.size() - 1;
    }
    names[i] = code.add(node);
  }
  return code;
}

}  // namespace blip::dwarf
