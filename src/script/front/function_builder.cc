// SPDX-License-Identifier: MIT
#include "script/front/function_builder.h"

#include <fmt/core.h>

#include <algorithm>

#include "script/blocks/library.h"
#include "script/blocks/operations.h"
#include "script/front/tidy.h"
#include "script/ir/verify.h"

namespace blip::script {

namespace {

// Expressions at the hit may be kMaxDepth deep; some levels are left for what is built around them in a block.
constexpr uint32_t kDeepest = kMaxDepth - 6;

template <typename T, typename U>
uint32_t find_or_add(std::vector<T>& all, const U& wanted) {
  const auto found = std::find(all.begin(), all.end(), wanted);
  if (found != all.end()) return static_cast<uint32_t>(found - all.begin());
  all.emplace_back(wanted);
  return static_cast<uint32_t>(all.size() - 1);
}

bool is_pooled(const Value& v) { return v.where == Value::Where::kPool; }

}  // namespace

uint32_t add_text(Program& program, std::string_view text) { return find_or_add(program.texts, text); }
uint32_t add_table(Program& program, const Table& table) { return find_or_add(program.tables, table); }
uint32_t add_format(Program& program, std::string_view text, const std::vector<ValueType>& arguments) {
  return find_or_add(program.formats, Format{std::string(text), arguments});
}

FunctionBuilder::FunctionBuilder(Program& program, Options options)
    : program_(program), options_(std::move(options)) {
  function_.place = options_.place;
  function_.name = options_.name;
  function_.probe = options_.probe;
  function_.parameters = static_cast<uint32_t>(options_.parameters.size());
  function_.result = options_.result;
  function_.locals = options_.parameters;
  known_.assign(function_.locals.size(), kNone);
  const uint32_t first = new_block();
  drafts_[first].incoming = known_;
  begin(first);
}

// --- values ---

Value FunctionBuilder::text(std::string_view text) {
  return {Value::Where::kText, add_text(program_, text), kNone, ValueType::kText};
}

Value FunctionBuilder::observe(BlockOp op) const {
  return {Value::Where::kObserve, static_cast<uint32_t>(op)};
}

std::optional<uint64_t> FunctionBuilder::constant_of(const Value& value) const {
  return is_pooled(value) ? pool_.constant_of(value.node) : std::nullopt;
}

// A pooled value that is as deep as machine code allows goes on as a local.
Value FunctionBuilder::without_deep_pool(Value value) {
  if (!is_pooled(value) || pool_.depth(value.node) < kDeepest) return value;
  const uint32_t local = add_local(ValueType::kNumber);
  add_node({.op = op_of(BlockOp::kSet), .a = use(value), .value = local});
  return add({.op = op_of(BlockOp::kLocal), .value = local});
}

Value FunctionBuilder::op(Op op, const Value& a, bool is_signed) {
  const Value of = without_deep_pool(a);
  if (is_pooled(of)) return pool_value(pool_.add({.op = op, .is_signed = is_signed, .a = of.node}));
  return add({.op = op, .is_signed = is_signed, .a = use(of)});
}

Value FunctionBuilder::op(Op op, const Value& a, const Value& b, bool is_signed) {
  const Value left = without_deep_pool(a), right = without_deep_pool(b);
  if (is_pooled(left) && is_pooled(right)) return pool_value(pool_.add(op, left.node, right.node, is_signed));
  const uint32_t x = use(left), y = use(right);
  return add({.op = op, .is_signed = is_signed, .a = x, .b = y});
}

Value FunctionBuilder::extend(const Value& a, uint64_t size, bool is_signed) {
  if (size >= sizeof(uint64_t)) return a;
  if (is_pooled(a)) return pool_value(pool_.extend(a.node, size, is_signed));
  return add({.op = Op::kExtend, .width = static_cast<uint8_t>(size), .is_signed = is_signed, .a = use(a)});
}

Value FunctionBuilder::select(const Value& test, const Value& yes, const Value& no) {
  const Value t = without_deep_pool(test), y = without_deep_pool(yes), n = without_deep_pool(no);
  if (is_pooled(t) && is_pooled(y) && is_pooled(n))
    return pool_value(pool_.add({.op = Op::kSelect, .a = t.node, .b = y.node, .c = n.node}));
  const uint32_t a = use(t), b = use(y), c = use(n);
  return add({.op = Op::kSelect, .a = a, .b = b, .c = c});
}

Value FunctionBuilder::or_default(const Value& value, const Value& otherwise) {
  const uint32_t a = is_pooled(value) ? from_pool(value.node) : use(value), b = use(otherwise);
  return add({.op = op_of(BlockOp::kDefault), .a = a, .b = b});
}

Value FunctionBuilder::read_text(const Value& address, uint32_t most) {
  const uint32_t from = is_pooled(address) ? from_pool(address.node) : use(address);
  const uint32_t node = add_node({.op = op_of(BlockOp::kReadText), .a = from, .value = most});
  const Value read{Value::Where::kBlock, node, current_, ValueType::kText};
  return options_.fault_is_zero ? or_default(read, text("")) : read;
}

Value FunctionBuilder::read_bytes(const Value& address, const Value& length, uint32_t most) {
  const uint32_t from = is_pooled(address) ? from_pool(address.node) : use(address);
  const uint32_t size = is_pooled(length) ? from_pool(length.node) : use(length);
  const uint32_t node = add_node({.op = op_of(BlockOp::kReadBytes), .a = from, .b = size, .value = most});
  const Value read{Value::Where::kBlock, node, current_, ValueType::kText};
  return options_.fault_is_zero ? or_default(read, text("")) : read;
}

Value FunctionBuilder::keep(const Value& value) {
  if (value.where != Value::Where::kBlock) return value;
  const uint32_t local = add_local(value.type);
  add_node({.op = op_of(BlockOp::kSet), .a = use(value), .value = local});
  return {Value::Where::kLocal, local, kNone, value.type};
}

// --- locals ---

uint32_t FunctionBuilder::add_local(ValueType type) {
  function_.locals.push_back(type);
  known_.push_back(kNone);
  return static_cast<uint32_t>(function_.locals.size() - 1);
}

void FunctionBuilder::set(uint32_t local, const Value& value) {
  add_node({.op = op_of(BlockOp::kSet), .a = use(value), .value = local});
  known_[local] = is_pooled(value) && pool_.depth(value.node) < kDeepest ? value.node : kNone;
}

Value FunctionBuilder::get(uint32_t local) {
  if (known_[local] != kNone) return pool_value(known_[local]);
  return add({.op = op_of(BlockOp::kLocal), .value = local});
}

// --- maps ---

uint32_t FunctionBuilder::list(Node& node, const Values& values) {
  std::vector<uint32_t> nodes;
  for (const Value& v : values) nodes.push_back(use(v));
  auto& lists = draft().block.lists;
  node.a = static_cast<uint32_t>(lists.size());
  node.b = static_cast<uint32_t>(nodes.size());
  lists.insert(lists.end(), nodes.begin(), nodes.end());
  return node.a;
}

Value FunctionBuilder::on_map(BlockOp op, uint32_t map, const Values& key) {
  Node node{.op = op_of(op), .value = map};
  list(node, key);
  return add(node);
}

Value FunctionBuilder::get(uint32_t map, const Values& key) { return on_map(BlockOp::kGet, map, key); }
Value FunctionBuilder::has(uint32_t map, const Values& key) { return on_map(BlockOp::kHas, map, key); }
Value FunctionBuilder::erase(uint32_t map, const Values& key) { return on_map(BlockOp::kDelete, map, key); }
void FunctionBuilder::print(uint32_t map, const Values& key) { on_map(BlockOp::kPrint, map, key); }

void FunctionBuilder::put(uint32_t map, const Values& key, const Value& value) {
  Node node{.op = op_of(BlockOp::kPut), .c = use(value), .value = map};
  list(node, key);
  add_node(node);
}

Value FunctionBuilder::add_to(uint32_t map, const Values& key, const Value& value) {
  Node node{.op = op_of(BlockOp::kAddTo), .c = use(value), .value = map};
  list(node, key);
  return add(node);
}

void FunctionBuilder::tally(uint32_t map, const Values& key, const Value& value) {
  Node node{.op = op_of(BlockOp::kTally), .c = use(value), .value = map};
  list(node, key);
  add_node(node);
}

Value FunctionBuilder::statistic(uint32_t map, const Values& key, state::Statistic what) {
  Node node{.op = op_of(BlockOp::kStatistic), .width = static_cast<uint8_t>(what), .value = map};
  list(node, key);
  return add(node);
}

uint32_t FunctionBuilder::add_walk(uint32_t map) {
  function_.walks.push_back(map);
  return static_cast<uint32_t>(function_.walks.size() - 1);
}

void FunctionBuilder::walk(uint32_t walk, const Value& most, const state::Order& order) {
  const uint32_t count = use(most);
  add_node({.op = op_of(BlockOp::kWalk),
            .width = width_of(order),
            .is_signed = order.is_descending,
            .a = count,
            .value = walk});
}

Value FunctionBuilder::walk_key(uint32_t walk, uint32_t component) {
  return add({.op = op_of(BlockOp::kWalkKey), .width = static_cast<uint8_t>(component), .value = walk});
}

Value FunctionBuilder::walk_value(uint32_t walk) {
  return add({.op = op_of(BlockOp::kWalkValue), .value = walk});
}

// --- what comes out ---

uint32_t FunctionBuilder::format(std::string_view text, const Values& arguments) {
  std::vector<ValueType> types;
  for (const Value& v : arguments) types.push_back(v.type);
  return add_format(program_, text, types);
}

void FunctionBuilder::emit(uint32_t format, const Values& arguments) {
  Node node{.op = op_of(BlockOp::kEmit), .value = format};
  list(node, arguments);
  add_node(node);
}

Value FunctionBuilder::sprint(uint32_t format, const Values& arguments) {
  Node node{.op = op_of(BlockOp::kSprint), .value = format};
  list(node, arguments);
  return add(node);
}

Value FunctionBuilder::call(uint32_t function, const Values& arguments) {
  Node node{.op = op_of(BlockOp::kCall), .value = function};
  list(node, arguments);
  return add(node);
}

Value FunctionBuilder::apply(std::string_view name, const Values& arguments) {
  const auto& all = library();
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& f) { return f.name == name; });
  Node node{.op = op_of(BlockOp::kApply), .value = static_cast<uint64_t>(found - all.begin())};
  list(node, arguments);
  return add(node);
}

void FunctionBuilder::exit(const Value& code) {
  const uint32_t node = use(code);
  add_node({.op = op_of(BlockOp::kExit), .a = node});
}

// --- blocks ---

uint32_t FunctionBuilder::new_block() {
  drafts_.emplace_back();
  return static_cast<uint32_t>(drafts_.size() - 1);
}

void FunctionBuilder::begin(uint32_t block) {
  if (is_open_) jump(block);
  current_ = block;
  order_.push_back(block);
  is_open_ = true;
  Draft& d = draft();
  d.block.on_failure = on_failure_;
  if (on_failure_ != kNone) drafts_[on_failure_].incoming = Known(function_.locals.size(), kNone);
  if (d.incoming) known_ = *d.incoming;
  known_.resize(function_.locals.size(), kNone);
}

void FunctionBuilder::begin_loop(uint32_t block, std::span<const uint32_t> assigned) {
  begin(block);
  for (const uint32_t local : assigned) known_[local] = kNone;
  draft().incoming = known_;
  draft().is_loop = true;
  add_node({.op = op_of(BlockOp::kBudget), .value = 1});  // finish() knows how much
}

// What is known behind several ways is what all of them agree on.
void FunctionBuilder::leads_to(uint32_t block) {
  Draft& to = drafts_[block];
  if (!to.incoming) {
    to.incoming = known_;
    return;
  }
  to.incoming->resize(known_.size(), kNone);
  for (size_t i = 0; i < known_.size(); ++i) {
    if ((*to.incoming)[i] == known_[i]) continue;
    loop_is_wrong_ |= to.is_loop && (*to.incoming)[i] != kNone;
    (*to.incoming)[i] = kNone;
  }
}

void FunctionBuilder::end(Terminator end) {
  for (const uint32_t target : end.targets) leads_to(target);
  draft().block.end = std::move(end);
  draft().is_done = true;
  is_open_ = false;
}

void FunctionBuilder::jump(uint32_t block) { end({.kind = Terminator::Kind::kJump, .targets = {block}}); }

void FunctionBuilder::branch(const Value& test, uint32_t yes, uint32_t no) {
  if (const auto known = constant_of(test)) return jump(*known ? yes : no);
  const uint32_t node = use(test);
  end({.kind = Terminator::Kind::kBranch, .node = node, .targets = {yes, no}});
}

void FunctionBuilder::choose(const Value& value, std::vector<uint64_t> cases, std::vector<uint32_t> targets) {
  const uint32_t node = use(value);
  end({.kind = Terminator::Kind::kSwitch,
       .node = node,
       .targets = std::move(targets),
       .cases = std::move(cases)});
}

void FunctionBuilder::return_nothing() { end({}); }

void FunctionBuilder::return_value(const Value& value) {
  const uint32_t node = use(value);
  end({.node = node});
}

void FunctionBuilder::fail(const Value& text) {
  const uint32_t node = use(text);
  end({.kind = Terminator::Kind::kFail, .node = node});
}

void FunctionBuilder::on_failure(uint32_t block) {
  on_failure_ = block;
  if (is_open_) begin(new_block());
}

// --- nodes ---

uint32_t FunctionBuilder::add_node(const Node& node) {
  auto& nodes = draft().block.nodes;
  nodes.push_back(node);
  return static_cast<uint32_t>(nodes.size() - 1);
}

Value FunctionBuilder::add(Node node) {
  const uint32_t at = add_node(node);
  return {Value::Where::kBlock, at, current_, type_in(program_, function_, draft().block, at)};
}

uint32_t FunctionBuilder::use(const Value& value) {
  switch (value.where) {
    case Value::Where::kPool:
      return options_.fault_is_zero && may_fault(value.node)
                 ? without_fault(from_pool(value.node), value.node)
                 : from_pool(value.node);
    case Value::Where::kText: {
      const auto [place, is_new] = draft().of_text.try_emplace(value.node, 0);
      if (is_new) place->second = add_node({.op = op_of(BlockOp::kText), .value = value.node});
      return place->second;
    }
    case Value::Where::kObserve: {
      const auto [place, is_new] = draft().of_observed.try_emplace(value.node, 0);
      if (is_new) place->second = add_node({.op = op_of(static_cast<BlockOp>(value.node))});
      return place->second;
    }
    case Value::Where::kLocal:
      return add_node({.op = op_of(BlockOp::kLocal), .value = value.node});
    case Value::Where::kBlock:
    case Value::Where::kNothing:
      break;
  }
  return value.block == current_ ? value.node : kNone;
}

uint32_t FunctionBuilder::from_pool(uint32_t node) {
  const auto found = draft().of_pool.find(node);
  if (found != draft().of_pool.end()) return found->second;
  Node n = pool_.node(node);
  const unsigned operands = arity(n.op);
  if (operands > 0) n.a = from_pool(n.a);
  if (operands > 1) n.b = from_pool(n.b);
  if (operands > 2) n.c = from_pool(n.c);
  if (operation(n.op).value == ValueIs::kText) n.value = add_text(program_, pool_.code().texts[n.value]);
  if (operation(n.op).value == ValueIs::kTable) n.value = add_table(program_, pool_.code().tables[n.value]);
  const uint32_t at = add_node(n);
  draft().of_pool.emplace(node, at);
  return at;
}

uint32_t FunctionBuilder::without_fault(uint32_t node, uint32_t of_pool) {
  const uint32_t key = UINT32_MAX - of_pool;  // beside the node that may be a fault
  const auto found = draft().of_pool.find(key);
  if (found != draft().of_pool.end()) return found->second;
  const uint32_t zero = from_pool(pool_.constant(0));
  const uint32_t at = add_node({.op = op_of(BlockOp::kDefault), .a = node, .b = zero});
  draft().of_pool.emplace(key, at);
  return at;
}

bool FunctionBuilder::may_fault(uint32_t of_pool) const {
  const Node& n = pool_.node(of_pool);
  if (operation(n.op).may_fault) {
    const bool is_division = n.op == Op::kDiv || n.op == Op::kMod;
    if (!is_division || pool_.constant_of(n.b).value_or(0) == 0) return true;
  }
  const unsigned operands = arity(n.op);
  return (operands > 0 && may_fault(n.a)) || (operands > 1 && may_fault(n.b)) ||
         (operands > 2 && may_fault(n.c));
}

Result<Function> FunctionBuilder::finish() {
  if (is_open_ && function_.result == ValueType::kNone) return_nothing();
  if (loop_is_wrong_)
    return Error(ErrorKind::kUnsupported, "a loop sets a variable that was not known to be set in it");
  std::vector<Block> blocks(drafts_.size());
  for (size_t i = 0; i < drafts_.size(); ++i) blocks[i] = std::move(drafts_[i].block);
  function_.blocks = in_order(std::move(blocks), order_);
  leave_out_unused(function_);
  for (uint32_t i = 0; i < function_.blocks.size(); ++i)
    for (Node& n : function_.blocks[i].nodes)
      if (n.op == BlockOp::kBudget) n.value = std::max<uint64_t>(1, budget_of_loop(function_, i));
  TRY_OK(check_size(function_));
  return std::move(function_);
}

}  // namespace blip::script
