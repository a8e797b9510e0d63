// SPDX-License-Identifier: MIT
// What each operation takes and makes, for all that read, write, check and run blocks.
#pragma once

#include <optional>
#include <string_view>

#include "script/blocks/blocks.h"

namespace blip::script {

// The members of a node mean different things in different operations.
enum class ValueIs : uint8_t {
  kNothing,
  kNumber,
  kRegister,
  kText,
  kTable,
  kLocal,
  kCaptured,
  kMap,
  kWalk,
  kFormat,
  kFunction,
  kLibrary,  // a function of library.h
};
enum class WidthIs : uint8_t { kNothing, kBytes, kComponent, kStatistic, kOrder };
enum class ListIs : uint8_t {
  kNothing,
  kKey,
  kKeyOrAll,  // a key, or nothing for the whole map
  kArguments,
};
enum class ResultIs : uint8_t {
  kNothing,
  kNumber,
  kText,
  kOfA,  // the type of that operand
  kOfB,
  kOfLocal,
  kOfCaptured,
  kOfMap,
  kOfFunction,
  kOfLibrary,
  kOfWalkedKey,
  kOfWalkedValue,
};
enum class TakesWhat : uint8_t {
  kNumbers,
  kSame,   // of any type, all the same: kSelect's first one is a number
  kLocal,  // what the local is
  kMap,    // what the map's value is
};
// Operations that look at the target's state cannot run later in blip.
enum class RunsAt : uint8_t { kBoth, kTarget, kBlip };

struct Operation {
  Op op;
  std::string_view name;
  uint8_t operands = 0;
  ValueIs value = ValueIs::kNothing;
  ResultIs result = ResultIs::kNumber;
  WidthIs width = WidthIs::kNothing;
  bool has_sign = false;
  ListIs list = ListIs::kNothing;
  TakesWhat takes = TakesWhat::kNumbers;
  RunsAt runs_at = RunsAt::kBoth;
  bool may_fault = false;
};

inline constexpr size_t kOperations = static_cast<size_t>(kLastOp) + 1;
const Operation& operation(Op op);
const Operation* find_operation(std::string_view name);  // null: none

// Those happen where they stand; all others whenever their value is needed.
inline bool is_in_order(Op op) { return op == BlockOp::kLocal || op >= op_of(BlockOp::kSet); }
inline bool is_lazy(Op op) { return op == Op::kLogicalAnd || op == Op::kLogicalOr || op == Op::kSelect; }

// The operands that are not in a list.
struct Operands {
  uint32_t nodes[3];
  unsigned count;
  const uint32_t* begin() const { return nodes; }
  const uint32_t* end() const { return nodes + count; }
};
Operands operands_of(const Node& node);

// Calls `use` with each node that a node uses.
template <typename Use>
void for_each_use(const Block& block, const Node& node, const Use& use) {
  for (const uint32_t n : operands_of(node)) use(n);
  if (operation(node.op).list == ListIs::kNothing) return;
  for (uint32_t i = 0; i < node.b; ++i) use(block.lists[node.a + i]);
}

}  // namespace blip::script
