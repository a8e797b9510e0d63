// SPDX-License-Identifier: MIT
#include "script/blocks/verify_block.h"

#include <fmt/core.h>

#include <algorithm>

#include "script/blocks/library.h"

namespace blip::script {

namespace {

constexpr uint64_t kRegisters = 16;

bool is_width(uint32_t width) { return width == 1 || width == 2 || width == 4 || width == 8; }

bool fits_displacement(uint64_t value) {
  return static_cast<int64_t>(value) == static_cast<int32_t>(static_cast<uint32_t>(value));
}

const char* value_of_numbers(const Program& program, const Node& n) {
  if (n.op == Op::kLoadNear) return fits_displacement(n.value) ? nullptr : "too far from the stack pointer";
  if (n.op == Op::kEntryValue) return n.value < kMaxEntryValues ? nullptr : "no such value of the entry";
  if (n.op == BlockOp::kReadText || n.op == BlockOp::kReadBytes)
    return n.value > 0 && n.value <= program.text_limit ? nullptr : "no text is that long";
  return n.op != BlockOp::kBudget || n.value > 0 ? nullptr : "a budget of nothing";
}

}  // namespace

ValueType type_of(const Program& program, const Function& function, const std::vector<ValueType>& before,
                  const Node& n) {
  switch (operation(n.op).result) {
    case ResultIs::kNothing:
      return ValueType::kNone;
    case ResultIs::kNumber:
      return ValueType::kNumber;
    case ResultIs::kText:
      return ValueType::kText;
    case ResultIs::kOfA:
      return before[n.a];
    case ResultIs::kOfB:
      return before[n.b];
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
    case ResultIs::kOfWalkedKey:
      return program.maps[function.walks[n.value]].key[n.width];
    case ResultIs::kOfWalkedValue:
      return program.maps[function.walks[n.value]].value;
  }
  return ValueType::kNone;
}

Status BlockVerifier::verify() {
  types_.reserve(block_.nodes.size());
  for (const Node& n : block_.nodes)
    if (const char* what = node(n))
      return Error(ErrorKind::kInvalid, fmt::format("node {}: {}", types_.size(), what));
  if (const char* what = terminator()) return Error(ErrorKind::kInvalid, fmt::format("the end: {}", what));
  return {};
}

const char* BlockVerifier::node(const Node& n) {
  if (n.op > kLastOp) return "no such operation";
  // The later ones rely on what the earlier ones have found to be right.
  using Rule = const char* (BlockVerifier::*)(const Node&) const;
  constexpr Rule kRules[] = {&BlockVerifier::value, &BlockVerifier::width,         &BlockVerifier::operands,
                             &BlockVerifier::list,  &BlockVerifier::use_of_map,    &BlockVerifier::walk,
                             &BlockVerifier::call,  &BlockVerifier::operand_types, &BlockVerifier::place};
  for (const Rule rule : kRules)
    if (const char* what = (this->*rule)(n)) return what;
  if (const char* what = depth(n)) return what;
  types_.push_back(type_of(program_, function_, types_, n));
  return nullptr;
}

const char* BlockVerifier::value(const Node& n) const {
  const auto below = [&](size_t count, const char* what) { return n.value < count ? nullptr : what; };
  switch (operation(n.op).value) {
    case ValueIs::kNothing:
      return nullptr;
    case ValueIs::kNumber:
      return value_of_numbers(program_, n);
    case ValueIs::kRegister:
      return below(kRegisters, "no such register");
    case ValueIs::kText:
      return below(program_.texts.size(), "no such text");
    case ValueIs::kTable:
      return below(program_.tables.size(), "no such table");
    case ValueIs::kLocal:
      return below(function_.locals.size(), "no such local");
    case ValueIs::kCaptured:
      return below(function_.captured.size(), "no such captured value");
    case ValueIs::kMap:
      return below(program_.maps.size(), "no such map");
    case ValueIs::kWalk:
      return below(function_.walks.size(), "no such walk");
    case ValueIs::kFormat:
      return below(program_.formats.size(), "no such format");
    case ValueIs::kFunction:
      return below(program_.functions.size(), "no such function");
    case ValueIs::kLibrary:
      return below(library().size(), "no such function of the library");
  }
  return nullptr;
}

const char* BlockVerifier::width(const Node& n) const {
  switch (operation(n.op).width) {
    case WidthIs::kBytes:
      if (n.op == Op::kVector && n.width < 4) return "the width is neither 4 nor 8";
      return is_width(n.width) ? nullptr : "the width is none of 1, 2, 4 and 8";
    case WidthIs::kStatistic:
      return n.width <= static_cast<uint8_t>(state::Statistic::kVariance) ? nullptr : "no such statistic";
    case WidthIs::kComponent:
    case WidthIs::kOrder:  // see walk()
    case WidthIs::kNothing:
      break;
  }
  return nullptr;
}

const char* BlockVerifier::operands(const Node& n) const {
  for (const uint32_t o : operands_of(n)) {
    if (o >= types_.size()) return "an operand does not come earlier";
    if (!makes_value(o)) return "an operand makes no value";
  }
  return nullptr;
}

const char* BlockVerifier::operand_types(const Node& n) const {
  const Operands used = operands_of(n);
  switch (operation(n.op).takes) {
    case TakesWhat::kNumbers:
      for (const uint32_t o : used)
        if (!is_number(o)) return "an operand is no number";
      return nullptr;
    case TakesWhat::kSame: {
      if (n.op == Op::kSelect && !is_number(n.a)) return "an operand is no number";
      return types_[used.nodes[used.count - 1]] == types_[used.nodes[used.count - 2]]
                 ? nullptr
                 : "the operands are of two types";
    }
    case TakesWhat::kLocal:
      return types_[n.a] == function_.locals[n.value] ? nullptr : "the local has another type";
    case TakesWhat::kMap:
      return types_[n.c] == map(n).value ? nullptr : "the map has values of another type";
  }
  return nullptr;
}

const char* BlockVerifier::list(const Node& n) const {
  const ListIs list = operation(n.op).list;
  if (list == ListIs::kNothing) return nullptr;
  if (n.a > block_.lists.size() || n.b > block_.lists.size() - n.a)
    return "its list is outside of the block's";
  for (uint32_t i = 0; i < n.b; ++i)
    if (!makes_value(block_.lists[n.a + i]))
      return "one of its list makes no value, or does not come earlier";
  switch (operation(n.op).value) {
    case ValueIs::kMap:
      if (list == ListIs::kKeyOrAll && n.b == 0) return nullptr;
      return matches(n, map(n).key) ? "the key does not fit the map" : nullptr;
    case ValueIs::kFormat:
      return matches(n, program_.formats[n.value].arguments);
    case ValueIs::kLibrary:
      return matches(n, library()[n.value].parameters);
    default:
      return nullptr;  // see call()
  }
}

const char* BlockVerifier::matches(const Node& n, const std::vector<ValueType>& wanted) const {
  bool fits = n.b == wanted.size();
  for (uint32_t i = 0; fits && i < n.b; ++i) fits = types_[block_.lists[n.a + i]] == wanted[i];
  return fits ? nullptr : "the arguments do not fit";
}

const char* BlockVerifier::use_of_map(const Node& n) const {
  if (operation(n.op).value != ValueIs::kMap) return nullptr;
  const ValueType value = map(n).value;
  switch (block_op_of(n.op)) {
    case BlockOp::kGet:
    case BlockOp::kPut:
      return value != ValueType::kStats ? nullptr : "the map has stats";
    case BlockOp::kAddTo:
      return value == ValueType::kNumber ? nullptr : "the map has no numbers";
    case BlockOp::kTally:
    case BlockOp::kStatistic:
      return value == ValueType::kStats ? nullptr : "the map has no stats";
    default:
      return nullptr;
  }
}

const char* BlockVerifier::walk(const Node& n) const {
  if (operation(n.op).value != ValueIs::kWalk) return nullptr;
  const state::MapType& walked = program_.maps[function_.walks[n.value]];
  const bool has_stats = walked.value == ValueType::kStats;
  if (n.op == BlockOp::kWalkKey)
    return n.width < walked.key.size() ? nullptr : "the key has no such component";
  if (n.op == BlockOp::kWalkValue) return has_stats ? "the map has stats" : nullptr;
  if (n.op != BlockOp::kWalk) return nullptr;
  const state::Order order = order_of(n);
  switch (order.by) {
    case state::Order::By::kAge:
      return nullptr;
    case state::Order::By::kKey:
      return order.which < walked.key.size() ? nullptr : "the key has no such component";
    case state::Order::By::kValue:
      return has_stats ? "the map has stats" : nullptr;
    case state::Order::By::kStatistic:
      if (!has_stats) return "the map has no stats";
      return order.which <= static_cast<uint8_t>(state::Statistic::kVariance) ? nullptr : "no such statistic";
  }
  return nullptr;
}

const char* BlockVerifier::call(const Node& n) const {
  if (n.op != BlockOp::kCall) return nullptr;
  const Function& called = program_.functions[n.value];
  if (called.probe != kNone) return "a handler cannot be called";
  if (called.place != Function::Place::kBlip && called.place != function_.place)
    return "the called function runs elsewhere";
  return matches(n, {called.locals.begin(), called.locals.begin() + called.parameters});
}

const char* BlockVerifier::place(const Node& n) const {
  const RunsAt runs_at = operation(n.op).runs_at;
  if (function_.place == Function::Place::kBlip)
    return runs_at == RunsAt::kTarget ? "blip cannot look at the target's state later" : nullptr;
  if (function_.place != Function::Place::kTarget) return nullptr;
  if (runs_at == RunsAt::kBlip) return "the target has no such operation";
  return operation(n.op).value == ValueIs::kMap ? map_in_target(n) : nullptr;
}

const char* BlockVerifier::map_in_target(const Node& n) const {
  switch (map(n).kind) {
    case state::MapKind::kKept:
      return "the map is kept in blip";
    case state::MapKind::kTally: {
      const auto at = static_cast<uint32_t>(types_.size());
      const bool is_update = n.op == BlockOp::kTally || (n.op == BlockOp::kAddTo && !is_used(at));
      return is_update ? nullptr : "a tally is only updated in the target";
    }
    case state::MapKind::kOwn: {
      const auto is = [&](uint32_t i, BlockOp op) {
        return i < n.b && block_.nodes[block_.lists[n.a + i]].op == op;
      };
      return is(0, BlockOp::kTid) || (is(0, BlockOp::kPid) && is(1, BlockOp::kTid))
                 ? nullptr
                 : "the key is not this thread's own";
    }
  }
  return "no such kind of map";
}

bool BlockVerifier::is_used(uint32_t node) const {
  if (block_.end.node == node) return true;
  bool found = false;
  for (const Node& n : block_.nodes) {
    if (n.op > kLastOp || found) return true;
    for (const uint32_t o : operands_of(n)) found |= o == node;
  }
  return found || std::count(block_.lists.begin(), block_.lists.end(), node) > 0;
}

// Machine code needs a word of the stack for each level.
const char* BlockVerifier::depth(const Node& n) {
  uint32_t deepest = 0;
  if (!is_in_order(n.op))
    for (const uint32_t o : operands_of(n)) deepest = std::max(deepest, depths_[o]);
  depths_.push_back(deepest + 1);
  return function_.place == Function::Place::kBlip || deepest < kMaxDepth ? nullptr : "nested too deep";
}

const char* BlockVerifier::terminator() const {
  const Terminator& end = block_.end;
  if (const char* what = targets()) return what;
  switch (end.kind) {
    case Terminator::Kind::kReturn:
      return returned();
    case Terminator::Kind::kJump:
      return end.node == kNone ? nullptr : "it looks at a value";
    case Terminator::Kind::kBranch:
    case Terminator::Kind::kSwitch:
      return is_number(end.node) ? nullptr : "it looks at no number";
    case Terminator::Kind::kFail:
      return makes_value(end.node) && types_[end.node] == ValueType::kText ? nullptr
                                                                           : "it fails with no text";
  }
  return "no such terminator";
}

const char* BlockVerifier::returned() const {
  const uint32_t node = block_.end.node;
  if (function_.result == ValueType::kNone) return node == kNone ? nullptr : "it returns a value";
  return makes_value(node) && types_[node] == function_.result ? nullptr
                                                               : "it does not return the function's result";
}

const char* BlockVerifier::targets() const {
  const Terminator& end = block_.end;
  if (end.kind > Terminator::Kind::kFail) return "no such terminator";
  constexpr size_t kTargets[] = {0, 1, 2, 1, 0};  // without cases
  if (end.targets.size() != kTargets[static_cast<size_t>(end.kind)] + end.cases.size())
    return "its targets are too many or too few";
  if (end.kind != Terminator::Kind::kSwitch && !end.cases.empty()) return "it has cases";
  for (const uint32_t target : end.targets)
    if (target >= function_.blocks.size()) return "no such block";
  std::vector<uint64_t> sorted = end.cases;
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end() ? nullptr : "it has a case twice";
}

}  // namespace blip::script
