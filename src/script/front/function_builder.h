// SPDX-License-Identifier: MIT
// Makes functions of blocks for the languages of scripts. What it is asked for goes into the current block, in that order.
//
// Numbers that depend on the target's state and constants only stay in a pool: they mean the same wherever they are used, are
// folded and shared there, and come into a block when it needs them. So does a variable that holds one: `$p = arg0; $p->len`
// reads the target by a register, not by what only blip knows, and can be done at the hit.
//
//     FunctionBuilder f(program, {.name = "h0", .probe = 0, .place = Function::Place::kHit});
//     const Value n = f.pool_value(node);                     f.branch(f.op(Op::kLess, f.constant(9), n), yes, no);
//     f.begin(yes); f.emit(format, {n}); f.jump(no);          f.begin(no); TRY(Function h, f.finish());
#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "script/blocks/blocks.h"
#include "script/front/values.h"
#include "script/ir/builder.h"

namespace blip::script {

class FunctionBuilder {
 public:
  struct Options {
    std::string name{};
    uint32_t probe = kNone;
    Function::Place place = Function::Place::kBlip;
    std::vector<ValueType> parameters{};  // the first locals
    ValueType result = ValueType::kNone;
    bool fault_is_zero = false;  // what uses a fault has 0 or "" instead (kDefault); else it fails
  };
  // What it needs is added to `program`, which has to live longer.
  FunctionBuilder(Program& program, Options options);

  // Values.
  Builder& pool() { return pool_; }
  Value pool_value(uint32_t node) const { return {Value::Where::kPool, node}; }
  Value constant(uint64_t number) { return pool_value(pool_.constant(number)); }
  Value text(std::string_view text);
  Value observe(BlockOp op) const;
  std::optional<uint64_t> constant_of(const Value& value) const;
  // Operations without effects. Those on pooled values are pooled.
  Value op(Op op, const Value& a, bool is_signed = false);
  Value op(Op op, const Value& a, const Value& b, bool is_signed = false);
  Value extend(const Value& a, uint64_t size, bool is_signed);
  Value select(const Value& test, const Value& yes, const Value& no);  // both of one type
  Value or_default(const Value& value, const Value& otherwise);
  Value read_text(const Value& address, uint32_t most);
  Value read_bytes(const Value& address, const Value& length, uint32_t most);
  Value stack(uint32_t kind = 0) { return add({.op = op_of(BlockOp::kStack), .value = kind}); }
  Value failure() { return add({.op = op_of(BlockOp::kFailure)}); }
  // The same value, so that it can be used in other blocks.
  Value keep(const Value& value);

  // Locals, 0 or "" at first.
  uint32_t add_local(ValueType type);
  void set(uint32_t local, const Value& value);
  Value get(uint32_t local);

  // Maps. A key may be empty.
  using Values = std::vector<Value>;
  Value get(uint32_t map, const Values& key);
  Value has(uint32_t map, const Values& key);
  void put(uint32_t map, const Values& key, const Value& value);
  Value add_to(uint32_t map, const Values& key, const Value& value);  // its sum
  void tally(uint32_t map, const Values& key, const Value& value);
  Value statistic(uint32_t map, const Values& key, state::Statistic what);
  Value erase(uint32_t map, const Values& key);
  void clear(uint32_t map) { add({.op = op_of(BlockOp::kClear), .value = map}); }
  void zero(uint32_t map) { add({.op = op_of(BlockOp::kZero), .value = map}); }
  Value size(uint32_t map) { return add({.op = op_of(BlockOp::kSize), .value = map}); }
  void print(uint32_t map, const Values& key);  // an empty key: all of it

  // Walks over maps: walk() begins one, next() goes on.
  uint32_t add_walk(uint32_t map);
  void walk(uint32_t walk, const Value& most, const state::Order& order = {});
  Value next(uint32_t walk) { return add({.op = op_of(BlockOp::kNext), .value = walk}); }
  Value walk_key(uint32_t walk, uint32_t component);
  Value walk_value(uint32_t walk);

  // What comes out.
  uint32_t format(std::string_view text, const Values& arguments);  // its number
  void emit(uint32_t format, const Values& arguments);
  Value sprint(uint32_t format, const Values& arguments);
  Value call(uint32_t function, const Values& arguments);
  Value apply(std::string_view library_function, const Values& arguments);
  void exit(const Value& code);

  // Blocks. The first one is open; after a terminator the next one has to be begun. What no block leads to is left out.
  uint32_t new_block();
  void begin(uint32_t block);
  // A block that a later one jumps back to. `assigned` are the locals that the loop sets.
  void begin_loop(uint32_t block, std::span<const uint32_t> assigned);
  bool is_open() const { return is_open_; }
  void jump(uint32_t block);
  void branch(const Value& test, uint32_t yes, uint32_t no);
  void choose(const Value& value, std::vector<uint64_t> cases, std::vector<uint32_t> targets);
  void return_nothing();
  void return_value(const Value& value);
  void fail(const Value& text);
  // Failures of what is begun from now on lead to this block; kNone: to the caller.
  void on_failure(uint32_t block);

  // kUnsupported: it is too large.
  Result<Function> finish();

  // The node of a value in the current block.
  uint32_t use(const Value& value);
  Value add(Node node);  // of block operations; its operands are nodes of the current block

 private:
  using Known = std::vector<uint32_t>;  // by local: the node of the pool that it holds; kNone: not known
  struct Draft {
    Block block;
    std::map<uint32_t, uint32_t> of_pool, of_text, of_observed;
    std::optional<Known> incoming;  // what is known on all ways that lead to it so far
    bool is_loop = false, is_done = false;
  };

  uint32_t list(Node& node, const Values& values);
  uint32_t add_node(const Node& node);
  uint32_t from_pool(uint32_t node);
  uint32_t without_fault(uint32_t node, uint32_t of_pool);
  bool may_fault(uint32_t of_pool) const;
  Value without_deep_pool(Value value);
  Value on_map(BlockOp op, uint32_t map, const Values& key);
  void leads_to(uint32_t block);
  void end(Terminator end);
  Draft& draft() { return drafts_[current_]; }

  Program& program_;
  Options options_;
  Function function_;
  Builder pool_;
  std::vector<Draft> drafts_;
  std::vector<uint32_t> order_;
  Known known_;
  uint32_t current_ = 0;
  uint32_t on_failure_ = kNone;
  bool is_open_ = false;
  bool loop_is_wrong_ = false;  // it sets a local that begin_loop() was not told
};

// Adds what is not there yet; its number.
uint32_t add_text(Program& program, std::string_view text);
uint32_t add_table(Program& program, const Table& table);
uint32_t add_format(Program& program, std::string_view text, const std::vector<ValueType>& arguments);

}  // namespace blip::script
