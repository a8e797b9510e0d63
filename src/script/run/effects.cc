// SPDX-License-Identifier: MIT
#include <algorithm>

#include "script/run/interpreter.h"

namespace blip::script {

// Why compute() of script/ir/interpret.h makes nothing of an operation.
static Failure reason_of(Op op) {
  return op == Op::kDiv || op == Op::kMod ? Failure::kDivision : Failure::kRead;
}

void Interpreter::compute(const Instruction& i) {
  const Node& n = activations_.back().function->effects[i.number].node;
  if (n.op == Op::kLookup) {
    const Table& table = program_.tables[n.value];
    const auto row = std::lower_bound(table.begin(), table.end(), std::pair(slot(i.a), uint64_t{0}));
    if (row == table.end() || row->first != slot(i.a)) return mark(i.to, Failure::kLookup);
    return make(i.to, row->second);
  }
  const auto value = script::compute(n, slot(i.a), slot(i.b));
  return value ? make(i.to, *value) : mark(i.to, reason_of(n.op));
}

void Interpreter::observe(const Instruction& i) {
  const Node& n = activations_.back().function->effects[i.number].node;
  switch (block_op_of(n.op)) {
    case BlockOp::kClock:
      return make(i.to, hit_->clock);
    case BlockOp::kProbe:
      return make(i.to, hit_->probe);
    case BlockOp::kPid:
      return make(i.to, hit_->pid);
    case BlockOp::kTid:
      return make(i.to, hit_->tid);
    case BlockOp::kCpu:
      return make(i.to, hit_->cpu);
    case BlockOp::kUid:
      return make(i.to, hit_->uid);
    case BlockOp::kGid:
      return make(i.to, hit_->gid);
    case BlockOp::kStack:
      return hit_->stack ? make(i.to, *hit_->stack) : mark(i.to, Failure::kRead);
    case BlockOp::kFailure: {
      uint64_t made = 0;
      if (new_text(outcome_.message, made)) make(i.to, made);
      return;
    }
    case BlockOp::kCaptured: {
      const bool is_there = n.value < hit_->captured.size() && !hit_->captured[n.value].is_fault;
      if (!is_there) return mark(i.to, Failure::kRead);
      const Argument& value = hit_->captured[n.value].value;
      uint64_t made = value.number;
      const auto type = program_.functions[activations_.back().which].captured[n.value];
      if (type != ValueType::kText || new_text(value.text, made)) make(i.to, made);
      return;
    }
    case BlockOp::kReadText:
      return read_text(i, n.value);
    case BlockOp::kReadBytes:
      return read_bytes(i, n.value);
    default:
      return observe_machine(i, n);
  }
}

// By the interpreter of expressions, with the operands as constants.
void Interpreter::observe_machine(const Instruction& i, const Node& node) {
  if (hit_->machine == nullptr) return mark(i.to, Failure::kRead);
  script::Code code{.nodes = {{.value = slot(i.a)}, {.value = slot(i.b)}, node}};
  code.nodes[2].a = 0;
  code.nodes[2].b = 1;
  if (node.op == Op::kTextEqual || node.op == Op::kTextPrefix || node.op == Op::kBytesEqual) {
    code.texts = {program_.texts[node.value]};
    code.nodes[2].value = 0;
  }
  const auto value = interpret(code, 2, *hit_->machine);
  return value ? make(i.to, *value) : mark(i.to, Failure::kRead);
}

// The C string at the address, at most so many bytes of it. What goes on where nothing can be read ends there.
void Interpreter::read_text(const Instruction& i, uint64_t most) {
  if (hit_->machine == nullptr) return mark(i.to, Failure::kRead);
  std::string text;
  char c = 0;
  for (uint64_t at = slot(i.a); text.size() < most; ++at) {
    if (!hit_->machine->read(at, &c, 1)) {
      if (text.empty()) return mark(i.to, Failure::kRead);
      break;
    }
    if (c == 0) break;
    text += c;
  }
  uint64_t made = 0;
  if (new_text(text, made)) make(i.to, made);
}

void Interpreter::read_bytes(const Instruction& i, uint64_t most) {
  std::string bytes(std::min(slot(i.b), most), '\0');
  const bool can_read =
      bytes.empty() || (hit_->machine && hit_->machine->read(slot(i.a), bytes.data(), bytes.size()));
  if (!can_read) return mark(i.to, Failure::kRead);
  uint64_t made = 0;
  if (new_text(bytes, made)) make(i.to, made);
}

// False: the run has too much text; it ends.
bool Interpreter::new_text(std::string_view text, uint64_t& slot) {
  text = text.substr(0, program_.text_limit);
  if (texts_.size() + text.size() > program_texts_ + limits_.texts) return fail(Failure::kTexts, "");
  slot = text_slot(texts_.size(), text.size());
  texts_ += text;
  return true;
}

// At the beginning of a block only locals have texts.
void Interpreter::collect_texts() {
  if (activations_.size() > 1) return;
  std::string kept = texts_.substr(0, program_texts_);
  for (const uint32_t local : activations_.back().function->text_locals) {
    const std::string_view value = text(slot(local));
    slots_[activations_.back().base + local] = text_slot(kept.size(), value.size());
    kept += value;
  }
  texts_ = std::move(kept);
}

const state::Key& Interpreter::key_of(const Effect& e) {
  key_.clear();
  for (size_t i = 0; i < e.list.size(); ++i) {
    if (e.types[i] == ValueType::kText)
      key_.add(text(slot(e.list[i])));
    else
      key_.add(slot(e.list[i]));
  }
  return key_;
}

std::span<const Argument> Interpreter::arguments_of(const Effect& e) {
  arguments_.resize(e.list.size());
  for (size_t i = 0; i < e.list.size(); ++i) {
    const uint64_t value = slot(e.list[i]);
    if (e.types[i] == ValueType::kText)
      arguments_[i] = {.text = text(value)};
    else
      arguments_[i] = {.number = value};
  }
  return arguments_;
}

bool Interpreter::effect(const Instruction& i) {
  const Effect& e = activations_.back().function->effects[i.number];
  uint64_t result = 0;
  bool is_fine = true;
  switch (block_op_of(e.node.op)) {
    case BlockOp::kStatistic:
      return statistic(e, i.to);
    case BlockOp::kClear:
      maps_[e.node.value].clear();
      break;
    case BlockOp::kZero:
      maps_[e.node.value].zero();
      break;
    case BlockOp::kSize:
      result = maps_[e.node.value].size();
      break;
    case BlockOp::kWalk:
    case BlockOp::kNext:
    case BlockOp::kWalkKey:
    case BlockOp::kWalkValue:
      is_fine = walk(e, result);
      break;
    case BlockOp::kEmit:
      sink_.emit(static_cast<uint32_t>(e.node.value), arguments_of(e));
      break;
    case BlockOp::kPrint: {
      const bool is_whole = e.list.empty();
      sink_.print(static_cast<uint32_t>(e.node.value), is_whole ? nullptr : &key_of(e));
      break;
    }
    case BlockOp::kExit:
      sink_.exit(slot(e.operand));
      break;
    case BlockOp::kSprint:
    case BlockOp::kApply:
      is_fine = apply(e, result);
      break;
    default:
      is_fine = update(e, result);
  }
  make(i.to, result);
  return is_fine;
}

// What is done to one key.
bool Interpreter::update(const Effect& e, uint64_t& result) {
  state::Map& map = maps_[e.node.value];
  const state::Key& key = key_of(e);
  const bool has_texts = map.type().value == ValueType::kText;
  bool has_room = true;
  switch (block_op_of(e.node.op)) {
    case BlockOp::kGet:
      if (has_texts) return new_text(map.text(key), result);
      result = map.number(key);
      return true;
    case BlockOp::kHas:
      result = map.has(key);
      return true;
    case BlockOp::kDelete:
      result = map.erase(key);
      return true;
    case BlockOp::kPut:
      has_room = has_texts ? map.put(key, text(slot(e.operand))) : map.put(key, slot(e.operand));
      break;
    case BlockOp::kTally:
      has_room = map.tally(key, slot(e.operand));
      break;
    default: {  // kAddTo
      const auto sum = map.add(key, slot(e.operand));
      has_room = sum.has_value();
      result = sum.value_or(0);
    }
  }
  return has_room || fail(Failure::kMapFull, "");
}

bool Interpreter::statistic(const Effect& e, uint32_t to) {
  const state::Map& map = maps_[e.node.value];
  const auto what = static_cast<state::Statistic>(e.node.width);
  const auto value = map.stats(key_of(e)).get(map.type(), what);
  if (value)
    make(to, *value);
  else
    mark(to, Failure::kEmpty);
  return true;
}

bool Interpreter::apply(const Effect& e, uint64_t& result) {
  const auto arguments = arguments_of(e);
  if (e.node.op == BlockOp::kSprint)
    return new_text(sink_.sprint(static_cast<uint32_t>(e.node.value), arguments), result);
  const LibraryFunction& f = library()[e.node.value];
  LibraryCall call{.arguments = arguments, .world = world_};
  f.run(call);
  if (!call.failure.empty()) return fail(Failure::kScript, std::move(call.failure));
  result = call.number;
  return f.result != ValueType::kText || new_text(call.text, result);
}

bool Interpreter::walk(const Effect& e, uint64_t& result) {
  const Activation& a = activations_.back();
  Walk& walk = walks_[a.first_walk + e.node.value];
  const state::Map& map = maps_[program_.functions[a.which].walks[e.node.value]];
  if (e.node.op == BlockOp::kWalk) {
    walk = {.steps = map.walk(order_of(e.node), slot(e.operand))};
    return take_budget(walk.steps.size());
  }
  if (e.node.op == BlockOp::kNext) {
    while (walk.next < walk.steps.size() && !map.is_there(walk.steps[walk.next])) ++walk.next;
    result = walk.next < walk.steps.size();
    walk.next += result;
    return true;
  }
  // Of the step before `next`, if the walk has come to one that is still there.
  if (walk.next == 0 || !map.is_there(walk.steps[walk.next - 1])) {
    result = 0;
    return true;
  }
  const state::Map::Step& step = walk.steps[walk.next - 1];
  if (e.node.op == BlockOp::kWalkKey) {
    const state::KeyComponent component = map.key_of(step, e.node.width);
    result = component.number;
    const bool is_text = map.type().key[e.node.width] == ValueType::kText;
    return !is_text || new_text(component.text, result);
  }
  result = map.number_of(step);
  return map.type().value != ValueType::kText || new_text(map.text_of(step), result);
}

}  // namespace blip::script
