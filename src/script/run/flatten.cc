// SPDX-License-Identifier: MIT
#include "script/run/flatten.h"

#include <algorithm>
#include <map>
#include <optional>

#include "script/blocks/verify.h"
#include "script/run/regions.h"

namespace blip::script {

namespace {

// Operations that are one instruction: those of two operands, and whether the sign picks the next one.
struct Simple {
  Op op;
  Opcode code;
  bool has_signed_code = false;
};
constexpr Simple kSimple[] = {
    {Op::kAdd, Opcode::kAdd},
    {Op::kSub, Opcode::kSub},
    {Op::kMul, Opcode::kMul},
    {Op::kAnd, Opcode::kAnd},
    {Op::kOr, Opcode::kOr},
    {Op::kXor, Opcode::kXor},
    {Op::kShl, Opcode::kShl},
    {Op::kShr, Opcode::kShr, true},
    {Op::kEqual, Opcode::kEqual},
    {Op::kNotEqual, Opcode::kNotEqual},
    {Op::kLess, Opcode::kLess, true},
    {Op::kLessEqual, Opcode::kLessEqual, true},
    {Op::kExtend, Opcode::kExtend, true},
    {Op::kLogicalNot, Opcode::kIsZero},
};

std::optional<Opcode> simple_code(const Node& n) {
  const auto found =
      std::find_if(std::begin(kSimple), std::end(kSimple), [&](const Simple& s) { return s.op == n.op; });
  if (found == std::end(kSimple) || (n.op == Op::kExtend && n.width >= 8)) return std::nullopt;
  return static_cast<Opcode>(static_cast<uint8_t>(found->code) +
                             (found->has_signed_code && n.is_signed ? 1 : 0));
}

// A comparison as a jump that is taken if it holds, or if it does not.
struct Comparison {
  Opcode code, if_true, if_false;
  bool is_swapped = false;
};
constexpr Comparison kComparisons[] = {
    {Opcode::kEqual, Opcode::kJumpIfEqual, Opcode::kJumpIfNotEqual},
    {Opcode::kNotEqual, Opcode::kJumpIfNotEqual, Opcode::kJumpIfEqual},
    {Opcode::kLess, Opcode::kJumpIfLess, Opcode::kJumpIfNotLess},
    {Opcode::kLessSigned, Opcode::kJumpIfLessSigned, Opcode::kJumpIfNotLessSigned},
    {Opcode::kLessEqual, Opcode::kJumpIfNotLess, Opcode::kJumpIfLess, true},
    {Opcode::kLessEqualSigned, Opcode::kJumpIfNotLessSigned, Opcode::kJumpIfLessSigned, true},
    {Opcode::kIsZero, Opcode::kJumpIfZero, Opcode::kJumpIfNotZero},
};

bool is_observation(Op op) {
  return operation(op).runs_at == RunsAt::kTarget ||
         (op >= op_of(BlockOp::kClock) && op <= op_of(BlockOp::kCaptured)) || op == BlockOp::kFailure;
}

class Flattener {
 public:
  Flattener(const Program& program, const Function& function) : program_(program), function_(function) {}

  FlatFunction run() {
    result_.locals = static_cast<uint32_t>(function_.locals.size());
    size_t most = 0;
    for (const Block& b : function_.blocks) most = std::max(most, b.nodes.size());
    result_.first_constant = result_.locals + static_cast<uint32_t>(most);
    for (uint32_t i = 0; i < result_.locals; ++i)
      if (function_.locals[i] == ValueType::kText) result_.text_locals.push_back(i);
    for (at_block_ = 0; at_block_ < function_.blocks.size(); ++at_block_) block(function_.blocks[at_block_]);
    for (const uint32_t jump : jumps_) result_.code[jump].to = starts_[result_.code[jump].to];
    for (FlatSwitch& s : result_.switches) {
      for (auto& [value, to] : s.cases) to = starts_[to];
      s.otherwise = starts_[s.otherwise];
    }
    for (auto& [begin, to] : result_.on_failure) to = to == kNone ? kNone : starts_[to];
    return std::move(result_);
  }

 private:
  void block(const Block& b) {
    block_ = &b;
    const Regions regions(b);
    regions_ = &regions;
    types_ = types_of(program_, function_, b);
    slots_.assign(b.nodes.size(), 0);
    may_fault_.assign(b.nodes.size(), false);
    result_.nodes += b.nodes.size() + 1;
    starts_.push_back(here());
    result_.on_failure.emplace_back(here(), b.on_failure);
    last_simple_ = kNone;
    region(Regions::kRoot);
    terminator(b.end);
  }

  void region(uint32_t which) {
    for (const uint32_t node : regions_->nodes(which)) emit_node(node);
  }

  void emit_node(uint32_t i) {
    const Node& n = block_->nodes[i];
    slots_[i] = result_.locals + i;
    if (n.op == Op::kSelect) return select(i);
    if (n.op == Op::kLogicalAnd || n.op == Op::kLogicalOr) return logical(i);
    if (n.op == Op::kConstant) {
      slots_[i] = constant(n.value);
      return;
    }
    switch (block_op_of(n.op)) {
      case BlockOp::kText:
        slots_[i] = constant(text(n.value));
        return;
      case BlockOp::kLocal:
        return local(i);
      case BlockOp::kSet:
        return set(i);
      case BlockOp::kBudget:
        emit({.code = Opcode::kBudget, .a = i == 0, .number = n.value});
        return;
      case BlockOp::kDefault:
        return make_default(i);
      default:
        return is_in_order(n.op) ? effect(i) : pure(i);
    }
  }

  uint32_t constant(uint64_t value) {
    const auto [place, is_new] =
        constants_.try_emplace(value, result_.first_constant + static_cast<uint32_t>(constants_.size()));
    if (is_new) result_.constants.push_back(value);
    return place->second;
  }

  uint64_t text(uint64_t which) const {
    size_t begin = 0;
    for (uint64_t i = 0; i < which; ++i) begin += program_.texts[i].size();
    return text_slot(begin, program_.texts[which].size());
  }

  // The local itself, if nothing sets it before the last use.
  void local(uint32_t i) {
    const auto which = static_cast<uint32_t>(block_->nodes[i].value);
    for (uint32_t k = i + 1; k < regions_->last_use(i); ++k) {
      const Node& n = block_->nodes[k];
      if (n.op != BlockOp::kSet || n.value != which) continue;
      emit({.code = Opcode::kMove, .to = slots_[i], .a = which});
      return;
    }
    slots_[i] = which;
  }

  void set(uint32_t i) {
    const Node& n = block_->nodes[i];
    const auto to = static_cast<uint32_t>(n.value);
    if (last_simple_ == n.a && n.a + 1 == i && regions_->uses(n.a) == 1) {
      result_.code.back().to = to;
      last_simple_ = kNone;
      return;
    }
    fail_if_fault(n.a);
    emit({.code = Opcode::kMove, .to = to, .a = slots_[n.a]});
  }

  void effect(uint32_t i) {
    const Node& n = block_->nodes[i];
    for_each_use(*block_, n, [&](uint32_t used) { fail_if_fault(used); });
    may_fault_[i] = operation(n.op).may_fault;
    emit({.code = n.op == BlockOp::kCall ? Opcode::kCall : Opcode::kEffect,
          .to = slots_[i],
          .number = add_effect(n)});
  }

  uint64_t add_effect(const Node& n) {
    Effect e{.node = n};
    if (operation(n.op).list != ListIs::kNothing) {
      if (operation(n.op).operands > 0) e.operand = slots_[n.c];
      for (uint32_t k = n.a; k < n.a + n.b; ++k) {
        e.list.push_back(slots_[block_->lists[k]]);
        e.types.push_back(types_[block_->lists[k]]);
      }
    } else if (operation(n.op).operands > 0) {
      e.operand = slots_[n.a];
    }
    result_.effects.push_back(std::move(e));
    return result_.effects.size() - 1;
  }

  void fail_if_fault(uint32_t node) {
    if (may_fault_[node]) emit({.code = Opcode::kFailIfFault, .a = slots_[node]});
  }

  // Where a fault of an operand leads past the operation.
  struct Guard {
    uint32_t jump, operand;
  };

  void guard(uint32_t operand, std::vector<Guard>& guards) {
    if (may_fault_[operand])
      guards.push_back({emit({.code = Opcode::kJumpIfFault, .a = slots_[operand]}), operand});
  }

  // Behind the operation: without a fault the mark goes; with one it is that of the operand.
  void end_guards(uint32_t i, const std::vector<Guard>& guards, bool marks_itself) {
    if (guards.empty()) return;
    may_fault_[i] = true;
    if (!marks_itself) emit({.code = Opcode::kClearFault, .to = slots_[i]});
    std::vector<uint32_t> ends = {emit({.code = Opcode::kJump})};
    for (const Guard& g : guards) {
      land(g.jump);
      emit({.code = Opcode::kCopyFault, .to = slots_[i], .a = slots_[g.operand]});
      if (&g != &guards.back()) ends.push_back(emit({.code = Opcode::kJump}));
    }
    for (const uint32_t end : ends) land(end);
  }

  void pure(uint32_t i) {
    const Node& n = block_->nodes[i];
    const Operands operands = operands_of(n);
    std::vector<Guard> guards;
    for (const uint32_t o : operands) guard(o, guards);
    const auto code = simple_code(n);
    Instruction next{.code = code.value_or(is_observation(n.op) ? Opcode::kObserve : Opcode::kCompute),
                     .to = slots_[i]};
    if (operands.count > 0) next.a = slots_[n.a];
    if (operands.count > 1) next.b = slots_[n.b];
    if (n.op == Op::kExtend && code) next.number = 64 - 8U * n.width;
    if (!code) next.number = add_effect(n);
    emit(next);
    if (code && guards.empty()) last_simple_ = i;
    may_fault_[i] = operation(n.op).may_fault;
    end_guards(i, guards, may_fault_[i]);
  }

  void logical(uint32_t i) {
    const Node& n = block_->nodes[i];
    const bool is_or = n.op == Op::kLogicalOr;
    std::vector<Guard> guards;
    guard(n.a, guards);
    const uint32_t known =
        emit({.code = is_or ? Opcode::kJumpIfNotZero : Opcode::kJumpIfZero, .a = slots_[n.a]});
    region(Regions::of_side(i, 0));
    guard(n.b, guards);
    emit({.code = Opcode::kIsNotZero, .to = slots_[i], .a = slots_[n.b]});
    const uint32_t end = emit({.code = Opcode::kJump});
    land(known);
    emit({.code = Opcode::kMove, .to = slots_[i], .a = constant(is_or)});
    land(end);
    end_guards(i, guards, false);
  }

  void select(uint32_t i) {
    const Node& n = block_->nodes[i];
    std::vector<Guard> guards;
    guard(n.a, guards);
    const uint32_t other = emit({.code = Opcode::kJumpIfZero, .a = slots_[n.a]});
    region(Regions::of_side(i, 0));
    guard(n.b, guards);
    emit({.code = Opcode::kMove, .to = slots_[i], .a = slots_[n.b]});
    const uint32_t end = emit({.code = Opcode::kJump});
    land(other);
    region(Regions::of_side(i, 1));
    guard(n.c, guards);
    emit({.code = Opcode::kMove, .to = slots_[i], .a = slots_[n.c]});
    land(end);
    end_guards(i, guards, false);
  }

  void make_default(uint32_t i) {
    const Node& n = block_->nodes[i];
    if (!may_fault_[n.a]) {
      slots_[i] = slots_[n.a];
      return;
    }
    const uint32_t fault = emit({.code = Opcode::kJumpIfFault, .a = slots_[n.a]});
    emit({.code = Opcode::kMove, .to = slots_[i], .a = slots_[n.a]});
    if (may_fault_[n.b]) emit({.code = Opcode::kClearFault, .to = slots_[i]});
    const uint32_t end = emit({.code = Opcode::kJump});
    land(fault);
    emit({.code = Opcode::kCountDefault});
    if (may_fault_[n.b]) emit({.code = Opcode::kCopyFault, .to = slots_[i], .a = slots_[n.b]});
    may_fault_[i] = may_fault_[n.b];
    emit({.code = Opcode::kMove, .to = slots_[i], .a = slots_[n.b]});
    land(end);
  }

  void terminator(const Terminator& end) {
    if (end.node != kNone) fail_if_fault(end.node);
    switch (end.kind) {
      case Terminator::Kind::kReturn:
        emit({.code = Opcode::kReturn,
              .a = end.node == kNone ? 0 : slots_[end.node],
              .number = end.node != kNone});
        return;
      case Terminator::Kind::kFail:
        emit({.code = Opcode::kFail, .a = slots_[end.node]});
        return;
      case Terminator::Kind::kJump:
        return jump(end.targets[0]);
      case Terminator::Kind::kBranch:
        return branch(end);
      case Terminator::Kind::kSwitch: {
        FlatSwitch s{.otherwise = end.targets.back()};
        for (size_t i = 0; i < end.cases.size(); ++i) s.cases.emplace_back(end.cases[i], end.targets[i]);
        std::sort(s.cases.begin(), s.cases.end());
        emit({.code = Opcode::kSwitch, .a = slots_[end.node], .number = result_.switches.size()});
        result_.switches.push_back(std::move(s));
        return;
      }
    }
  }

  void jump(uint32_t to) {
    if (to != at_block_ + 1) jumps_.push_back(emit({.code = Opcode::kJump, .to = to}));
  }

  void branch(const Terminator& end) {
    Comparison how{Opcode::kIsNotZero, Opcode::kJumpIfNotZero, Opcode::kJumpIfZero};
    Instruction test{.code = Opcode::kJump, .a = slots_[end.node]};
    if (last_simple_ == end.node && regions_->uses(end.node) == 1) {
      const auto fused =
          std::find_if(std::begin(kComparisons), std::end(kComparisons),
                       [&](const Comparison& c) { return c.code == result_.code.back().code; });
      if (fused != std::end(kComparisons)) {
        how = *fused;
        test = result_.code.back();
        result_.code.pop_back();
        if (how.is_swapped) std::swap(test.a, test.b);
      }
    }
    const bool is_next = end.targets[0] == at_block_ + 1;
    test.code = is_next ? how.if_false : how.if_true;
    test.to = is_next ? end.targets[1] : end.targets[0];
    jumps_.push_back(emit(test));
    jump(is_next ? end.targets[0] : end.targets[1]);
  }

  uint32_t here() const { return static_cast<uint32_t>(result_.code.size()); }
  uint32_t emit(const Instruction& instruction) {
    last_simple_ = kNone;
    result_.code.push_back(instruction);
    return here() - 1;
  }
  void land(uint32_t jump) {
    last_simple_ = kNone;
    result_.code[jump].to = here();
  }

  const Program& program_;
  const Function& function_;
  FlatFunction result_;
  std::map<uint64_t, uint32_t> constants_;
  std::vector<uint32_t> starts_, jumps_;  // of blocks; to blocks
  uint32_t at_block_ = 0;

  // Of the block.
  const Block* block_ = nullptr;
  const Regions* regions_ = nullptr;
  std::vector<ValueType> types_;
  std::vector<uint32_t> slots_;
  std::vector<bool> may_fault_;
  uint32_t last_simple_ = kNone;  // the node that the last instruction alone computes
};

}  // namespace

FlatFunction flatten(const Program& program, const Function& function) {
  return Flattener(program, function).run();
}

}  // namespace blip::script
