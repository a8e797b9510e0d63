// SPDX-License-Identifier: MIT
#include "script/front/tidy.h"

#include <fmt/core.h>

#include <algorithm>

#include "script/blocks/library.h"
#include "script/blocks/operations.h"

namespace blip::script {

ValueType type_in(const Program& program, const Function& function, const Block& block, uint32_t node) {
  const Node& n = block.nodes[node];
  switch (operation(n.op).result) {
    case ResultIs::kNothing:
      return ValueType::kNone;
    case ResultIs::kNumber:
      return ValueType::kNumber;
    case ResultIs::kText:
      return ValueType::kText;
    case ResultIs::kOfA:
      return type_in(program, function, block, n.a);
    case ResultIs::kOfB:
      return type_in(program, function, block, n.b);
    case ResultIs::kOfLocal:
      return function.locals[n.value];
    case ResultIs::kOfCaptured:
      return function.captured[n.value];
    case ResultIs::kOfMap:
      return program.maps[n.value].value;
    case ResultIs::kOfFunction:
      return program.functions[n.value].result;
    case ResultIs::kOfLibrary:
      return library()[n.value].result;
    case ResultIs::kOfWalkedKey: {
      const auto& key = program.maps[function.walks[n.value]].key;
      return n.width < key.size() ? key[n.width] : ValueType::kNumber;
    }
    case ResultIs::kOfWalkedValue:
      return program.maps[function.walks[n.value]].value;
  }
  return ValueType::kNone;
}

std::vector<Block> in_order(std::vector<Block> blocks, const std::vector<uint32_t>& order) {
  std::vector<bool> is_reached(blocks.size());
  std::vector<uint32_t> ahead = {order.front()};
  const auto reach = [&](uint32_t block) {
    if (block == kNone || is_reached[block]) return;
    is_reached[block] = true;
    ahead.push_back(block);
  };
  is_reached[order.front()] = true;
  while (!ahead.empty()) {
    const Block& b = blocks[ahead.back()];
    ahead.pop_back();
    for (const uint32_t target : b.end.targets) reach(target);
    reach(b.on_failure);
  }
  std::vector<uint32_t> place(blocks.size(), kNone);
  std::vector<Block> result;
  for (const uint32_t block : order) {
    if (!is_reached[block]) continue;
    place[block] = static_cast<uint32_t>(result.size());
    result.push_back(std::move(blocks[block]));
  }
  for (Block& b : result) {
    for (uint32_t& target : b.end.targets) target = place[target];
    if (b.on_failure != kNone) b.on_failure = place[b.on_failure];
  }
  return result;
}

namespace {

class Sweeper {
 public:
  explicit Sweeper(Function& function) : function_(function) {}

  void run() {
    // What is set into a local that nobody reads may have been the only reader of another one.
    for (bool is_less = true; is_less;) {
      find_read();
      is_less = false;
      for (Block& b : function_.blocks) is_less = sweep(b) || is_less;
    }
    leave_out_locals();
  }

 private:
  void find_read() {
    is_read_.assign(function_.locals.size(), false);
    for (const Block& b : function_.blocks)
      for (const Node& n : b.nodes)
        if (n.op == BlockOp::kLocal) is_read_[n.value] = true;
  }

  bool has_effect(const Node& n) const {
    if (n.op == BlockOp::kSet) return is_read_[n.value];
    switch (block_op_of(n.op)) {
      case BlockOp::kGet:
      case BlockOp::kHas:
      case BlockOp::kSize:
      case BlockOp::kWalkKey:
      case BlockOp::kWalkValue:
        return false;
      default:
        return n.op >= op_of(BlockOp::kSet);
    }
  }

  bool sweep(Block& b) {
    std::vector<bool> used(b.nodes.size());
    if (b.end.node != kNone) used[b.end.node] = true;
    for (size_t i = b.nodes.size(); i-- > 0;) {
      const Node& n = b.nodes[i];
      used[i] = used[i] || has_effect(n);
      if (used[i]) for_each_use(b, n, [&](uint32_t of) { used[of] = true; });
    }
    if (std::find(used.begin(), used.end(), false) == used.end()) return false;
    leave_out(b, used);
    return true;
  }

  static void leave_out(Block& b, const std::vector<bool>& used) {
    std::vector<uint32_t> place(b.nodes.size(), kNone);
    Block result{.end = b.end, .on_failure = b.on_failure};
    for (size_t i = 0; i < b.nodes.size(); ++i) {
      if (!used[i]) continue;
      Node n = b.nodes[i];
      const Operation& o = operation(n.op);
      if (o.list != ListIs::kNothing) {
        const auto first = static_cast<uint32_t>(result.lists.size());
        for (uint32_t k = 0; k < n.b; ++k) result.lists.push_back(place[b.lists[n.a + k]]);
        n.a = first;
        if (o.operands > 0) n.c = place[n.c];
      } else {
        if (o.operands > 0) n.a = place[n.a];
        if (o.operands > 1) n.b = place[n.b];
        if (o.operands > 2) n.c = place[n.c];
      }
      place[i] = static_cast<uint32_t>(result.nodes.size());
      result.nodes.push_back(n);
    }
    if (b.end.node != kNone) result.end.node = place[b.end.node];
    b = std::move(result);
  }

  void leave_out_locals() {
    find_read();
    std::vector<uint64_t> place(function_.locals.size());
    std::vector<ValueType> kept;
    for (size_t i = 0; i < function_.locals.size(); ++i) {
      place[i] = kept.size();
      if (is_read_[i] || i < function_.parameters) kept.push_back(function_.locals[i]);
    }
    function_.locals = std::move(kept);
    for (Block& b : function_.blocks)
      for (Node& n : b.nodes)
        if (n.op == BlockOp::kLocal || n.op == BlockOp::kSet) n.value = place[n.value];
  }

  Function& function_;
  std::vector<bool> is_read_;
};

}  // namespace

void leave_out_unused(Function& function) { Sweeper(function).run(); }

Status check_size(const Function& function) {
  size_t nodes = 0;
  for (const Block& b : function.blocks) nodes += b.nodes.size();
  const auto too_many = [](size_t count, std::string_view what, size_t most) {
    return Error(
        ErrorKind::kUnsupported,
        fmt::format("the handler is too large: it has {} {}, and {} are possible", count, what, most));
  };
  if (nodes > kMaxFunctionNodes) return too_many(nodes, "operations", kMaxFunctionNodes);
  if (function.blocks.size() > kMaxBlocks) return too_many(function.blocks.size(), "branches", kMaxBlocks);
  if (function.locals.size() > kMaxLocals) return too_many(function.locals.size(), "variables", kMaxLocals);
  if (function.walks.size() > kMaxWalks) return too_many(function.walks.size(), "loops over maps", kMaxWalks);
  return {};
}

}  // namespace blip::script
