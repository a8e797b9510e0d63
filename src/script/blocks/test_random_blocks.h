// SPDX-License-Identifier: MIT
// For tests: programs at random, all of them valid, with every operation.
#pragma once

#include <random>

#include "script/blocks/library.h"
#include "script/blocks/operations.h"
#include "script/blocks/split.h"
#include "script/blocks/verify.h"

namespace blip::script {

class RandomBlocks {
 public:
  explicit RandomBlocks(std::mt19937_64& random) : random_(random) {}

  // Function 0 is a handler at the hit, which calls function 1, which calls itself.
  Program make() {
    using enum ValueType;
    using state::WhenFull;
    program_ = {
        .text_limit = 12, .texts = {"", "a", "abcdefghij", "-7"}, .tables = {{{0, 9}, {3, 4}, {7, 1}}}};
    program_.maps = {
        {.name = "numbers", .key = {kNumber}, .limit = 1},
        {.name = "texts",
         .key = {kNumber, kText},
         .value = kText,
         .limit = 3,
         .when_full = WhenFull::kReplaceOldest},
        {.name = "stats", .key = {kText}, .value = kStats, .limit = 1, .when_full = WhenFull::kDrop},
        {.name = "scalar", .value = kNumber}};
    program_.maps[2].histogram = {.kind = state::Histogram::Kind::kHistLog};
    program_.maps[0].is_unsigned = true;
    program_.formats = {{"%d", {kNumber}}, {"%s %d", {kText, kNumber}}, {"", {}}};
    program_.functions.resize(2);
    Function& handler = program_.functions[0];
    handler = {
        .place = Function::Place::kHit, .name = "handler", .probe = 0, .locals = {kNumber, kText, kNumber}};
    handler.captured = {kNumber, kText, kNumber, kText};
    handler.walks = {0, 1, 2};
    Function& called = program_.functions[1];
    called = {.name = "called",
              .parameters = 2,
              .result = kNumber,
              .locals = {kNumber, kText, kNumber},
              .walks = {2, 0}};
    if (is_for_split_) handler.captured.clear();
    for (Function& f : program_.functions) fill(f);
    if (is_for_split_ && below(2)) add_filter(handler);
    return std::move(program_);
  }

  // The handler can be split.
  Program make_for_split() {
    is_for_split_ = true;
    return make();
  }

 private:
  uint64_t below(uint64_t n) { return random_() % n; }

  void fill(Function& f) {
    function_ = &f;
    f.blocks.resize(1 + below(5));
    for (size_t i = 0; i < f.blocks.size(); ++i) fill(f.blocks[i], i);
    for (uint32_t i = 0; i < f.blocks.size(); ++i)
      f.blocks[i].nodes[0].value = std::max<uint64_t>(1, budget_of_loop(f, i));
  }

  void fill(Block& b, size_t at) {
    block_ = &b;
    types_.clear();
    add({.op = op_of(BlockOp::kBudget), .value = 1});
    add({.op = Op::kConstant, .value = number()});
    add({.op = op_of(BlockOp::kText), .value = below(program_.texts.size())});
    for (size_t tries = below(40); tries > 0; --tries) add_random();
    if (below(3) == 0 && at + 1 < function_->blocks.size())
      b.on_failure = static_cast<uint32_t>(at + 1 + below(function_->blocks.size() - at - 1));
    end(b.end);
  }

  // A first block that ends the handler unless a register has a large number.
  void add_filter(Function& f) {
    const auto last = static_cast<uint32_t>(f.blocks.size() + 1);
    for (Block& b : f.blocks) {
      for (uint32_t& target : b.end.targets) ++target;
      if (b.on_failure != kNone) ++b.on_failure;
    }
    Block first{
        .nodes = {{.op = Op::kRegister, .value = below(16)}, {.op = Op::kConstant, .value = below(30)}}};
    first.nodes.push_back({.op = Op::kLess, .a = 1, .b = 0});
    first.end = {.kind = Terminator::Kind::kBranch, .node = 2, .targets = {1, last}};
    f.blocks.insert(f.blocks.begin(), first);
    f.blocks.emplace_back();
  }

  uint64_t number() { return below(3) ? below(9) : below(2) ? 0 - below(9) : random_(); }

  void add(const Node& n) {
    types_.push_back(type_of(n));
    block_->nodes.push_back(n);
  }
  ValueType type_of(const Node& n) {
    Block so_far = *block_;
    so_far.nodes.push_back(n);
    return types_of(program_, *function_, so_far).back();
  }

  // A node of the type, of late ones more often; kNone: there is none.
  uint32_t any(ValueType type) {
    std::vector<uint32_t> all;
    for (uint32_t i = 0; i < types_.size(); ++i)
      if (types_[i] == type) all.push_back(i);
    if (all.empty()) return kNone;
    return below(2) ? all[all.size() - 1 - below(std::min<size_t>(all.size(), 4))] : all[below(all.size())];
  }

  uint64_t value_for(const Operation& o) {
    switch (o.value) {
      case ValueIs::kNothing:
        return 0;
      case ValueIs::kNumber:
        return o.op == Op::kConstant ? number() : 1 + below(10);
      case ValueIs::kRegister:
        return below(16);
      case ValueIs::kText:
        return below(program_.texts.size());
      case ValueIs::kTable:
        return 0;
      case ValueIs::kLocal:
        return below(function_->locals.size());
      case ValueIs::kCaptured:
        return below(std::max<size_t>(1, function_->captured.size()));
      case ValueIs::kMap:
        return below(program_.maps.size());
      case ValueIs::kWalk:
        return below(function_->walks.size());
      case ValueIs::kFormat:
        return below(program_.formats.size());
      case ValueIs::kFunction:
        return 1;
      case ValueIs::kLibrary:
        return below(library().size());
    }
    return 0;
  }

  uint8_t width_for(const Operation& o) {
    constexpr uint8_t kWidths[] = {1, 2, 4, 8};
    switch (o.width) {
      case WidthIs::kBytes:
        return kWidths[below(4)];
      case WidthIs::kComponent:
        return static_cast<uint8_t>(below(2));
      case WidthIs::kStatistic:
        return static_cast<uint8_t>(below(5));
      case WidthIs::kOrder:
        return width_of(
            {.by = static_cast<state::Order::By>(below(4)), .which = static_cast<uint8_t>(below(3))});
      case WidthIs::kNothing:
        break;
    }
    return 8;
  }

  std::vector<ValueType> list_for(const Operation& o, uint64_t value) {
    switch (o.value) {
      case ValueIs::kMap:
        return o.list == ListIs::kKeyOrAll && below(2) ? std::vector<ValueType>() : program_.maps[value].key;
      case ValueIs::kFormat:
        return program_.formats[value].arguments;
      case ValueIs::kLibrary:
        return library()[value].parameters;
      default:
        return {ValueType::kNumber, ValueType::kText};  // of function 1
    }
  }

  // A node that may keep the rules; what does not is taken out again.
  void add_random() {
    const Operation& o = operation(static_cast<Op>(below(kOperations)));
    Node n{.op = o.op, .width = width_for(o), .is_signed = o.has_sign && below(2), .value = value_for(o)};
    const bool is_of_text = below(4) == 0;
    uint32_t operands[3];
    for (unsigned i = 0; i < 3; ++i) {
      const bool may_be_text = o.takes != TakesWhat::kNumbers && !(o.op == Op::kSelect && i == 0);
      operands[i] = any(may_be_text && is_of_text ? ValueType::kText : ValueType::kNumber);
    }
    const size_t lists = block_->lists.size();
    if (o.list == ListIs::kNothing) {
      if (o.operands > 0) n.a = operands[0];
      if (o.operands > 1) n.b = operands[1];
      if (o.operands > 2) n.c = operands[2];
    } else {
      n.a = static_cast<uint32_t>(lists);
      for (const ValueType type : list_for(o, n.value)) block_->lists.push_back(any(type));
      n.b = static_cast<uint32_t>(block_->lists.size() - lists);
      if (o.operands > 0) n.c = operands[0];
    }
    block_->nodes.push_back(n);
    if (keeps_the_rules()) {
      types_ = types_of(program_, *function_, *block_);
      return;
    }
    block_->nodes.pop_back();
    block_->lists.resize(lists);
  }

  // As if it were alone, so that what is not made yet is not wrong.
  bool keeps_the_rules() const {
    Program alone = program_;
    for (Function& f : alone.functions) f.blocks.assign(1, Block{});
    alone.functions[1].blocks[0] = {.nodes = {{}}, .end = {.node = 0}};
    Function& f = alone.functions[static_cast<size_t>(function_ - program_.functions.data())];
    f.blocks[0] = {.nodes = block_->nodes, .lists = block_->lists};
    if (f.result != ValueType::kNone) f.blocks[0].end.node = 1;
    return verify(alone) && (!is_for_split_ || split(alone, alone.functions[0]));
  }

  uint32_t block_at_random() { return static_cast<uint32_t>(below(function_->blocks.size())); }

  void end(Terminator& end) {
    end.kind = static_cast<Terminator::Kind>(below(5));
    switch (end.kind) {
      case Terminator::Kind::kReturn:
        if (function_->result != ValueType::kNone) end.node = any(function_->result);
        return;
      case Terminator::Kind::kFail:
        end.node = any(ValueType::kText);
        return;
      case Terminator::Kind::kSwitch:
        end.cases = {1, 5, UINT64_MAX};
        [[fallthrough]];
      case Terminator::Kind::kBranch:
      case Terminator::Kind::kJump:
        if (end.kind != Terminator::Kind::kJump) end.node = any(ValueType::kNumber);
        end.targets.resize(end.kind == Terminator::Kind::kBranch ? 2 : end.cases.size() + 1);
        for (uint32_t& target : end.targets) target = block_at_random();
    }
  }

  std::mt19937_64& random_;
  bool is_for_split_ = false;
  Program program_;
  Function* function_ = nullptr;
  Block* block_ = nullptr;
  std::vector<ValueType> types_;
};

}  // namespace blip::script
