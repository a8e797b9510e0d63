// SPDX-License-Identifier: MIT
#include "script/blocks/parse_function.h"

#include <algorithm>

#include "script/blocks/library.h"
#include "script/blocks/words.h"

namespace blip::script {

namespace {

// The place of `wanted` in `all`, where it is put if it is not there.
template <typename T>
uint32_t intern(std::vector<T>& all, T wanted) {
  const auto found = std::find(all.begin(), all.end(), wanted);
  const auto place = static_cast<uint32_t>(found - all.begin());
  if (found == all.end()) all.push_back(std::move(wanted));
  return place;
}

}  // namespace

void FunctionParser::read(Line& line) {
  if (function_.blocks.empty() && declare(line)) return;
  if (has_ended_) return begin_block(line, line.word());
  statement(line);
}

// What stands between a function's head and its first block.
bool FunctionParser::declare(Line& line) {
  const auto next_is = [&](size_t wanted) {
    if (line.number() != wanted)
      line.fail("its number is not " + std::to_string(wanted) + ", which is the next");
  };
  const auto types = {std::pair("local", &function_.locals), std::pair("captured", &function_.captured)};
  for (const auto& [word, all] : types) {
    if (!line.skip(word)) continue;
    next_is(all->size());
    all->push_back(line.one_of<ValueType>(words::kTypes, "type"));
    return true;
  }
  if (!line.skip("walk")) return false;
  next_is(function_.walks.size());
  line.expect("map");
  function_.walks.push_back(line.small_number());
  return true;
}

void FunctionParser::begin_block(Line& line, const std::string& name) {
  line.expect(":");
  if (!blocks_.emplace(name, static_cast<uint32_t>(function_.blocks.size())).second)
    line.fail("a second block " + name);
  function_.blocks.emplace_back();
  values_.clear();
  has_ended_ = false;
  if (line.skip("else")) block().on_failure = target(line);
  if (!line.is_at_end()) statement(line);
}

void FunctionParser::statement(Line& line) {
  std::string name, word = line.word();
  if (line.skip("=")) {
    name = std::move(word);
    word = line.word();
  } else if (line.is_next(":")) {
    return line.fail("the block before " + word + " has no terminator");
  } else if (terminate(line, word)) {
    has_ended_ = true;
    return;
  }
  const Operation* found = find_operation(word);
  if (found == nullptr) return line.fail("no such operation: " + word);
  Node n{.op = found->op};
  width(line, n);
  if (found->has_sign) n.is_signed = line.skip(n.op == BlockOp::kWalk ? "descending" : "signed");
  value(line, n);
  if (found->list != ListIs::kNothing) list(line, n);
  uint32_t operands[3] = {};
  for (unsigned i = 0; i < found->operands; ++i) operands[i] = operand(line);
  if (found->list != ListIs::kNothing) {
    n.c = operands[0];
  } else {
    n.a = operands[0];
    n.b = operands[1];
    n.c = operands[2];
  }
  block().nodes.push_back(n);
  if (name.empty()) return;
  if (found->result == ResultIs::kNothing) return line.fail("it makes no value: " + word);
  if (!values_.emplace(name, static_cast<uint32_t>(block().nodes.size() - 1)).second)
    line.fail("a second value " + name);
}

bool FunctionParser::terminate(Line& line, const std::string& word) {
  const auto found = std::find(words::kTerminators.begin(), words::kTerminators.end(), word);
  if (found == words::kTerminators.end()) return false;
  using Kind = Terminator::Kind;
  Terminator& end = block().end;
  end.kind = static_cast<Kind>(found - words::kTerminators.begin());
  const bool has_node = end.kind == Kind::kReturn ? !line.is_at_end() : end.kind != Kind::kJump;
  if (has_node) end.node = operand(line);
  while (end.kind == Kind::kSwitch && line.is_number_next()) {
    end.cases.push_back(line.number());
    line.expect(":");
    end.targets.push_back(target(line));
  }
  const bool has_targets = end.kind != Kind::kReturn && end.kind != Kind::kFail;
  if (has_targets) end.targets.push_back(target(line));
  if (end.kind == Kind::kBranch) end.targets.push_back(target(line));
  return true;
}

void FunctionParser::width(Line& line, Node& n) {
  switch (operation(n.op).width) {
    case WidthIs::kNothing:
      return;
    case WidthIs::kBytes:
    case WidthIs::kComponent:
      n.width = static_cast<uint8_t>(line.small_number(UINT8_MAX));
      return;
    case WidthIs::kStatistic:
      n.width = line.one_of<uint8_t>(words::kStatistics, "statistic");
      return;
    case WidthIs::kOrder: {
      state::Order order{.by = line.one_of<state::Order::By>(words::kOrders, "order")};
      if (order.by == state::Order::By::kKey)
        order.which = static_cast<uint8_t>(line.small_number(state::kMaxKey));
      if (order.by == state::Order::By::kStatistic)
        order.which = line.one_of<uint8_t>(words::kStatistics, "statistic");
      n.width = width_of(order);
      return;
    }
  }
}

void FunctionParser::value(Line& line, Node& n) {
  switch (operation(n.op).value) {
    case ValueIs::kNothing:
      return;
    case ValueIs::kText:
      n.value = intern(program_.texts, line.quoted());
      return;
    case ValueIs::kTable:
      n.value = intern(program_.tables, table(line));
      return;
    case ValueIs::kLibrary: {
      const std::string name = line.word();
      n.value = find_library_function(name);
      if (n.value == kNone) line.fail("no such function of the library: " + name);
      return;
    }
    default:
      n.value = line.number();
  }
}

// "{1:2, 3:4}"
Table FunctionParser::table(Line& line) {
  Table rows;
  line.expect("{");
  while (!line.is_at_end() && !line.is_next("}")) {
    const uint64_t key = line.number();
    line.expect(":");
    rows.emplace_back(key, line.number());
    if (!line.is_next("}")) line.expect(",");
  }
  line.expect("}");
  return rows;
}

void FunctionParser::list(Line& line, Node& n) {
  std::vector<uint32_t> nodes;
  line.expect("(");
  while (!line.is_at_end() && !line.is_next(")")) {
    nodes.push_back(operand(line));
    if (!line.is_next(")")) line.expect(",");
  }
  line.expect(")");
  n.a = static_cast<uint32_t>(block().lists.size());
  n.b = static_cast<uint32_t>(nodes.size());
  block().lists.insert(block().lists.end(), nodes.begin(), nodes.end());
}

// The name of a value, or a number, of which a constant is made.
uint32_t FunctionParser::operand(Line& line) {
  if (line.is_number_next()) {
    block().nodes.push_back({.op = Op::kConstant, .value = line.number()});
    return static_cast<uint32_t>(block().nodes.size() - 1);
  }
  const std::string name = line.word();
  const auto found = values_.find(name);
  if (found != values_.end()) return found->second;
  line.fail("no such value in this block: " + name);
  return 0;
}

uint32_t FunctionParser::target(Line& line) {
  targets_.push_back(line.word());
  return static_cast<uint32_t>(targets_.size() - 1);
}

Status FunctionParser::finish() {
  if (!has_ended_) return Error(ErrorKind::kInvalid, "its last block has no terminator");
  for (const std::string& name : targets_)
    if (!blocks_.contains(name)) return Error(ErrorKind::kInvalid, "no such block: " + name);
  const auto place = [&](uint32_t& target) { target = blocks_.at(targets_[target]); };
  for (Block& b : function_.blocks) {
    std::for_each(b.end.targets.begin(), b.end.targets.end(), place);
    if (b.on_failure != kNone) place(b.on_failure);
  }
  return {};
}

}  // namespace blip::script
