// SPDX-License-Identifier: MIT
#include "script/ir/builder.h"

#include <algorithm>

#include "script/ir/interpret.h"
#include "script/ir/verify.h"

namespace blip::script {

namespace {

bool is_comparison(Op op) {
  switch (op) {
    case Op::kEqual:
    case Op::kNotEqual:
    case Op::kLess:
    case Op::kLessEqual:
    case Op::kLessFloat:
    case Op::kLessEqualFloat:
    case Op::kEqualFloat:
    case Op::kLogicalAnd:
    case Op::kLogicalOr:
    case Op::kLogicalNot:
    case Op::kTextEqual:
    case Op::kTextPrefix:
    case Op::kBytesEqual:
    case Op::kTail:
      return true;
    default:
      return false;
  }
}

}  // namespace

uint32_t Builder::add(Node node) {
  if (const auto same = simpler(node)) return *same;
  const Key key{node.op, node.width, node.is_signed, node.a, node.b, node.c, node.value};
  const auto [place, is_new] = known_.try_emplace(key, static_cast<uint32_t>(code_.nodes.size()));
  if (!is_new) return place->second;
  const uint32_t operands[] = {node.a, node.b, node.c};
  uint32_t depth = 0;
  for (unsigned i = 0; i < arity(node.op); ++i) depth = std::max(depth, depths_[operands[i]]);
  depths_.push_back(depth + 1);
  return code_.add(node);
}

uint32_t Builder::text(std::string text) {
  const auto found = std::find(code_.texts.begin(), code_.texts.end(), text);
  if (found != code_.texts.end()) return static_cast<uint32_t>(found - code_.texts.begin());
  code_.texts.push_back(std::move(text));
  return static_cast<uint32_t>(code_.texts.size() - 1);
}

uint32_t Builder::table(const Table& table) {
  const auto found = std::find(code_.tables.begin(), code_.tables.end(), table);
  if (found != code_.tables.end()) return static_cast<uint32_t>(found - code_.tables.begin());
  code_.tables.push_back(table);
  return static_cast<uint32_t>(code_.tables.size() - 1);
}

uint32_t Builder::append(const Code& code) {
  if (code.nodes.empty() || !verify(code)) return kNone;
  std::vector<uint32_t> place;
  for (Node n : code.nodes) {
    if (arity(n.op) > 0) n.a = place[n.a];
    if (arity(n.op) > 1) n.b = place[n.b];
    if (arity(n.op) > 2) n.c = place[n.c];
    if (n.op == Op::kTextEqual || n.op == Op::kTextPrefix || n.op == Op::kBytesEqual)
      n.value = text(code.texts[n.value]);
    if (n.op == Op::kLookup) n.value = table(code.tables[n.value]);
    place.push_back(add(n));
  }
  return place.back();
}

std::optional<uint64_t> Builder::constant_of(uint32_t node) const {
  const Node& n = code_.nodes[node];
  return n.op == Op::kConstant ? std::optional(n.value) : std::nullopt;
}

std::optional<uint32_t> Builder::simpler(Node& n) {
  const unsigned operands = arity(n.op);
  if (operands == 3 || n.op == Op::kLogicalAnd || n.op == Op::kLogicalOr) return simpler_choice(n);
  if (operands == 0) return std::nullopt;
  const auto a = constant_of(n.a);
  const auto b = operands == 2 ? constant_of(n.b) : std::optional<uint64_t>(0);
  if (a && b)
    if (const auto value = compute(n, *a, *b)) return constant(*value);
  switch (n.op) {
    case Op::kExtend:
      if (is_extended(n.a, n.width, n.is_signed)) return n.a;
      return std::nullopt;
    case Op::kLogicalNot:
      return opposite(n.a);
    case Op::kAdd:
    case Op::kSub:
      return simpler_sum(n);
    case Op::kMul:
    case Op::kDiv:
      if (b == 1) return n.a;
      if (n.op == Op::kMul && a == 1) return n.b;
      return std::nullopt;
    case Op::kShl:
    case Op::kShr:
      return b == 0 ? std::optional(n.a) : std::nullopt;
    default:
      return std::nullopt;
  }
}

// Sums of an address and numbers are that address and one number.
std::optional<uint32_t> Builder::simpler_sum(Node& n) {
  if (n.op == Op::kSub) {
    const auto less = constant_of(n.b);
    if (!less) return std::nullopt;
    n = {.op = Op::kAdd, .a = n.a, .b = constant(0 - *less)};
  }
  n.is_signed = false;
  n.width = 8;
  if (constant_of(n.a)) std::swap(n.a, n.b);
  const auto more = constant_of(n.b);
  if (!more) return std::nullopt;
  if (*more == 0) return n.a;
  const Node inner = code_.nodes[n.a];
  if (inner.op != Op::kAdd || !constant_of(inner.b)) return std::nullopt;
  return add(Op::kAdd, inner.a, constant(*constant_of(inner.b) + *more));
}

std::optional<uint32_t> Builder::simpler_choice(const Node& n) {
  const auto a = constant_of(n.a);
  if (n.op == Op::kSelect) {
    if (n.b == n.c && a) return n.b;
    return a ? std::optional(*a ? n.b : n.c) : std::nullopt;
  }
  if (!a) return std::nullopt;
  if ((*a != 0) == (n.op == Op::kLogicalOr)) return constant(n.op == Op::kLogicalOr);
  return is_comparison(node(n.b).op) ? n.b : add(Op::kNotEqual, n.b, constant(0));
}

std::optional<uint32_t> Builder::opposite(uint32_t of) {
  Node n = node(of);
  switch (n.op) {
    case Op::kEqual:
      n.op = Op::kNotEqual;
      break;
    case Op::kNotEqual:
      n.op = Op::kEqual;
      break;
    case Op::kLess:
    case Op::kLessEqual:  // not of floats: neither holds if one is not a number
      n.op = n.op == Op::kLess ? Op::kLessEqual : Op::kLess;
      std::swap(n.a, n.b);
      break;
    default:
      return std::nullopt;
  }
  return add(n);
}

// True if the node already has the value that kExtend would make of it.
bool Builder::is_extended(uint32_t at, uint8_t width, bool is_signed, int levels) const {
  const Node& n = node(at);
  if (width >= 8 || is_comparison(n.op)) return true;
  switch (n.op) {
    case Op::kLoad:
    case Op::kLoadNear:
    case Op::kExtend:
      return (n.width == width && n.is_signed == is_signed) ||
             (n.width < width && (!n.is_signed || is_signed));
    case Op::kVector:
      return n.width < width || (n.width == width && !is_signed);
    case Op::kAnd:
    case Op::kOr:
    case Op::kXor:
      return levels > 0 && is_extended(n.a, width, is_signed, levels - 1) &&
             is_extended(n.b, width, is_signed, levels - 1);
    case Op::kSelect:
      return levels > 0 && is_extended(n.b, width, is_signed, levels - 1) &&
             is_extended(n.c, width, is_signed, levels - 1);
    case Op::kConstant:
      return compute({.op = Op::kExtend, .width = width, .is_signed = is_signed}, n.value, 0) == n.value;
    default:
      return false;
  }
}

HitProgram without_unused(const HitProgram& program) {
  const auto& nodes = program.code.nodes;
  std::vector<bool> used(nodes.size());
  const auto use = [&](uint32_t node) {
    if (node != kNone) used[node] = true;
  };
  use(program.condition);
  for (const Output& o : program.outputs) {
    use(o.node);
    if (o.has_length()) use(o.length);
  }
  for (size_t i = nodes.size(); i-- > 0;) {
    if (!used[i]) continue;
    const uint32_t operands[] = {nodes[i].a, nodes[i].b, nodes[i].c};
    for (unsigned k = 0; k < arity(nodes[i].op); ++k) use(operands[k]);
  }
  HitProgram result{.code = {.texts = program.code.texts, .tables = program.code.tables},
                    .outputs = program.outputs};
  std::vector<uint32_t> place(nodes.size(), 0);
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!used[i]) continue;
    Node n = nodes[i];
    if (arity(n.op) > 0) n.a = place[n.a];
    if (arity(n.op) > 1) n.b = place[n.b];
    if (arity(n.op) > 2) n.c = place[n.c];
    place[i] = result.code.add(n);
  }
  if (program.condition != kNone) result.condition = place[program.condition];
  for (Output& o : result.outputs) {
    o.node = place[o.node];
    if (o.has_length()) o.length = place[o.length];
  }
  return result;
}

}  // namespace blip::script
