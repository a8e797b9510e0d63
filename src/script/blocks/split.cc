// SPDX-License-Identifier: MIT
#include "script/blocks/split.h"

#include <fmt/core.h>

#include <algorithm>

#include "script/blocks/operations.h"
#include "script/ir/builder.h"
#include "script/ir/verify.h"

namespace blip::script {

namespace {

constexpr uint32_t kNumberBytes = 8;

bool is_of_expressions(Op op) { return op <= Op::kEntryValue; }

// What pads compute: the operations of expressions, of which the last may be the text at an address.
bool is_text(Op op) { return op == BlockOp::kReadText || op == BlockOp::kReadBytes; }
bool can_be_in_target(Op op) { return is_of_expressions(op) || is_text(op); }

class Splitter {
 public:
  Splitter(const Program& program, const Function& handler) : program_(program), handler_(handler) {}

  Result<Split> run() {
    result_.rest = handler_;
    result_.rest.place = Function::Place::kBlip;
    result_.rest.captured.clear();
    blocks_.resize(handler_.blocks.size());
    for (uint32_t i = 0; i < blocks_.size(); ++i) TRY_OK(look_at(i));
    move_filter();
    find_conditions();
    for (uint32_t i = 0; i < blocks_.size(); ++i) capture(i);
    result_.target.code = builder_.code();
    result_.target = without_unused(result_.target);
    TRY_OK(check());
    return std::move(result_);
  }

 private:
  // Of the nodes of one block.
  struct Nodes {
    std::vector<bool> is_pure;   // it depends on the target's state and constants only
    std::vector<bool> observes;  // it depends on the target's state
    std::vector<bool> may_fault;
    std::vector<uint32_t> moved;  // its place in the target's code; kNone: not yet there
    uint32_t condition =
        kNone;  // in the target's code: the block is not reached without it; kNone: nothing known
  };

  static Error refused(uint32_t block, uint32_t node, std::string_view what) {
    return Error(ErrorKind::kUnsupported, fmt::format("block {}, node {}: {}", block, node, what));
  }

  Status look_at(uint32_t at) {
    const Block& b = handler_.blocks[at];
    Nodes& n = blocks_[at];
    n.moved.assign(b.nodes.size(), kNone);
    for (uint32_t i = 0; i < b.nodes.size(); ++i) {
      const Node& node = b.nodes[i];
      const bool is_target = operation(node.op).runs_at == RunsAt::kTarget;
      bool is_pure = can_be_in_target(node.op) && !has_reason(b, node), observes = is_target;
      for (const uint32_t o : operands_of(node)) {
        is_pure = is_pure && n.is_pure[o] && is_of_expressions(b.nodes[o].op);
        observes = observes || n.observes[o];
      }
      if (is_target && !is_pure) return refused(at, i, "the target is read by a value that only blip knows");
      n.is_pure.push_back(is_pure);
      n.observes.push_back(is_pure && observes);
      n.may_fault.push_back(may_fault(b, n, node));
    }
    return {};
  }

  // A record only says that something was a fault. What may be one for another reason than a read is left to blip.
  static bool has_reason(const Block& b, const Node& node) {
    if (node.op == Op::kLookup) return true;
    if (node.op != Op::kDiv && node.op != Op::kMod) return false;
    return b.nodes[node.b].op != Op::kConstant || b.nodes[node.b].value == 0;
  }

  static bool may_fault(const Block& b, const Nodes& n, const Node& node) {
    if (node.op == BlockOp::kDefault) return n.may_fault[node.b];
    if (is_in_order(node.op)) return operation(node.op).may_fault;
    const bool is_division = node.op == Op::kDiv || node.op == Op::kMod;
    bool result = is_division ? has_reason(b, node) : operation(node.op).may_fault;
    for (const uint32_t o : operands_of(node)) result = result || n.may_fault[o];
    return result;
  }

  // The node in the target's code.
  uint32_t move(uint32_t block, uint32_t i) {
    uint32_t& moved = blocks_[block].moved[i];
    if (moved != kNone) return moved;
    Node n = handler_.blocks[block].nodes[i];
    const unsigned operands = operation(n.op).operands;
    if (operands > 0) n.a = move(block, n.a);
    if (operands > 1) n.b = move(block, n.b);
    if (operands > 2) n.c = move(block, n.c);
    if (operation(n.op).value == ValueIs::kText) n.value = builder_.text(program_.texts[n.value]);
    if (operation(n.op).value == ValueIs::kTable) n.value = builder_.table(program_.tables[n.value]);
    return moved = builder_.add(n);
  }

  // True if the handler ends there and has done nothing.
  bool is_empty_end(uint32_t block) const {
    const Block& b = handler_.blocks[block];
    return b.end.kind == Terminator::Kind::kReturn && does_nothing_before_its_end(b);
  }

  // The condition that the first block begins with becomes that of the record, if without it the handler does nothing.
  void move_filter() {
    const Block& b = handler_.blocks[0];
    Terminator& end = result_.rest.blocks[0].end;
    if (b.end.kind != Terminator::Kind::kBranch || !does_nothing_before_its_end(b)) return;
    const bool ends_if_true = is_empty_end(b.end.targets[0]), ends_if_false = is_empty_end(b.end.targets[1]);
    if (ends_if_true == ends_if_false) return;
    uint32_t node = b.end.node;
    // A default of 0 is what a fault of the condition means to the pad.
    const Node& n = b.nodes[node];
    const bool is_default =
        n.op == BlockOp::kDefault && ends_if_false && b.nodes[n.b] == Node{.op = Op::kConstant};
    if (is_default) node = n.a;
    const Nodes& known = blocks_[0];
    if (!known.is_pure[node] || !known.observes[node] || !is_of_expressions(b.nodes[node].op)) return;
    if (known.may_fault[node] && !is_default) return;
    const uint32_t moved = move(0, node);
    result_.target.condition = ends_if_false ? moved : builder_.add(Op::kLogicalNot, moved);
    filtered_ = b.end.targets[ends_if_true ? 1 : 0];
    end = {.kind = Terminator::Kind::kJump, .targets = {filtered_}};
  }

  static bool does_nothing_before_its_end(const Block& b) {
    return std::none_of(b.nodes.begin(), b.nodes.end(), [](const Node& n) {
      return is_in_order(n.op) && n.op != BlockOp::kLocal && n.op != BlockOp::kBudget;
    });
  }

  // A block that only one branch leads to is reached under its condition, and under that of where it comes from. Blocks behind
  // their only way in are looked at in order; others are taken to be reached always.
  void find_conditions() {
    const auto& blocks = handler_.blocks;
    std::vector<std::vector<uint32_t>> ways(blocks.size());
    for (uint32_t i = 0; i < blocks.size(); ++i) {
      for (const uint32_t target : blocks[i].end.targets) ways[target].push_back(i);
      if (blocks[i].on_failure != kNone) ways[blocks[i].on_failure].push_back(kNone);
    }
    for (uint32_t i = 1; i < blocks.size(); ++i) {
      if (ways[i].size() != 1 || ways[i][0] >= i) continue;
      const uint32_t from = ways[i][0];
      blocks_[i].condition = blocks_[from].condition;
      if (i == filtered_) continue;  // every record is one of a hit that comes here
      const Terminator& end = blocks[from].end;
      if (end.kind != Terminator::Kind::kBranch || !is_condition(from, end.node)) continue;
      uint32_t test = move(from, end.node);
      if (end.targets[1] == i) test = builder_.add(Op::kLogicalNot, test);
      const uint32_t outer = blocks_[from].condition;
      blocks_[i].condition = outer == kNone ? test : builder_.add(Op::kLogicalAnd, outer, test);
    }
  }

  bool is_condition(uint32_t block, uint32_t node) const {
    const Nodes& n = blocks_[block];
    return n.is_pure[node] && !n.may_fault[node];
  }

  void capture(uint32_t at) {
    const Block& b = handler_.blocks[at];
    Block& rest = result_.rest.blocks[at];
    std::vector<bool> is_wanted(b.nodes.size());
    const auto want = [&](uint32_t node) { is_wanted[node] = is_wanted[node] || blocks_[at].observes[node]; };
    for (uint32_t i = 0; i < b.nodes.size(); ++i)
      if (!blocks_[at].observes[i]) for_each_use(b, b.nodes[i], want);
    if (rest.end.node != kNone) want(rest.end.node);
    for (uint32_t i = 0; i < b.nodes.size(); ++i) {
      if (!blocks_[at].observes[i]) continue;
      rest.nodes[i] = is_wanted[i] ? captured(at, i) : Node{.op = Op::kConstant};
    }
  }

  // The node of the rest that stands for it.
  Node captured(uint32_t at, uint32_t i) {
    const Node& n = handler_.blocks[at].nodes[i];
    Output output{.node = under_condition(at, move(at, is_text(n.op) ? n.a : i))};
    if (is_text(n.op)) {
      output.kind = Output::Kind::kString;
      output.count = static_cast<uint32_t>(n.value);
    }
    if (n.op == BlockOp::kReadBytes) {
      output.kind = Output::Kind::kSequence;
      output.size = 1;
      output.length = under_condition(at, move(at, n.b));
    }
    auto& outputs = result_.target.outputs;
    auto found = std::find(outputs.begin(), outputs.end(), output);
    const auto place = static_cast<uint64_t>(found - outputs.begin());
    if (found == outputs.end()) {
      outputs.push_back(output);
      result_.rest.captured.push_back(is_text(n.op) ? ValueType::kText : ValueType::kNumber);
    }
    return {.op = op_of(BlockOp::kCaptured), .value = place};
  }

  // So that the pad reads nothing that the handler would not read.
  uint32_t under_condition(uint32_t at, uint32_t moved) {
    const uint32_t condition = blocks_[at].condition;
    if (condition == kNone) return moved;
    return builder_.add({.op = Op::kSelect, .a = condition, .b = moved, .c = builder_.constant(0)});
  }

  Status check() const {
    uint32_t bytes = 0;
    for (const Output& o : result_.target.outputs) bytes += o.is_dynamic() ? o.count : kNumberBytes;
    if (result_.target.outputs.size() > kMaxCaptured || bytes > kMaxCapturedBytes)
      return Error(ErrorKind::kUnsupported, "the handler needs too much of one hit");
    const Status valid = verify(result_.target);
    return valid ? Status() : Error(ErrorKind::kUnsupported, valid.error().message());
  }

  const Program& program_;
  const Function& handler_;
  Split result_;
  Builder builder_;
  uint32_t filtered_ = kNone;  // the block that the filter leads to
  std::vector<Nodes> blocks_;
};

}  // namespace

Result<Split> split(const Program& program, const Function& handler) {
  return Splitter(program, handler).run();
}

}  // namespace blip::script
