// SPDX-License-Identifier: MIT
// Handlers of scripts: functions of basic blocks. A block is a list of nodes (script/ir/ir.h), some of which have
// effects, and ends with one terminator. This is the one form between the languages of scripts and what runs them:
// text.h reads and writes it, verify.h has its rules, operations.h says what each operation takes and makes.
//
// A value lives in the block that makes it; what lives longer is in a local, which is 0 or "" at first. Effects happen in the
// order of the list. A node without effects is computed at any time before it is used, or not at all: under kLogicalAnd,
// kLogicalOr and kSelect only if its side is looked at. A fault is a value that is none. What uses it is a fault
// too; kDefault makes a value of it; an effect or a terminator that uses it fails. A failure goes on at the block's
// `on_failure`, else it ends the function and is the failure of the call, or of the handler.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "script/ir/ir.h"
#include "state/types.h"

namespace blip::script {

using state::ValueType;

// The operations that only blocks have. Their numbers go on where those of Op end: machine code and expressions, which have
// no use for them, refuse them.
enum class BlockOp : uint8_t {
  kText = static_cast<uint8_t>(Op::kEntryValue) + 1,
  kReadText,
  kReadBytes,  // b bytes at address a, at most `value` of them: all or none
  kDefault,
  kClock,
  kProbe,
  kPid,
  kTid,
  kCpu,
  kUid,
  kGid,
  kStack,
  kCaptured,
  kLocal,
  kFailure,
  kSet,  // the first that has an effect or depends on one
  kGet,
  kHas,
  kPut,
  kAddTo,
  kTally,
  kStatistic,
  kDelete,
  kClear,
  kZero,
  kSize,
  kWalk,
  kNext,
  kWalkKey,
  kWalkValue,
  kEmit,
  kSprint,
  kPrint,
  kCall,
  kApply,
  kBudget,
  kExit,
};

inline constexpr auto kLastOp = static_cast<Op>(BlockOp::kExit);
constexpr Op op_of(BlockOp op) { return static_cast<Op>(op); }
constexpr BlockOp block_op_of(Op op) { return static_cast<BlockOp>(op); }
constexpr bool operator==(Op a, BlockOp b) { return a == op_of(b); }

struct Terminator {
  enum class Kind : uint8_t {
    kReturn,  // `node`, if the function has a result
    kJump,    // to targets[0]
    kBranch,  // to targets[0] if `node` is not 0, else to targets[1]
    kSwitch,  // to targets[i] if `node` is cases[i], else to the last one
    kFail,    // with the text `node`
  } kind = Kind::kReturn;
  uint32_t node = kNone;
  std::vector<uint32_t> targets{};
  std::vector<uint64_t> cases{};  // differ

  bool operator==(const Terminator&) const = default;
};

// An operation with a list, such as a key or arguments, has it in `lists`: b numbers of nodes from a on. Its operand, if it has
// one, is c.
struct Block {
  std::vector<Node> nodes;
  std::vector<uint32_t> lists;
  Terminator end;
  uint32_t on_failure = kNone;  // a later block

  bool operator==(const Block&) const = default;
};

struct Function {
  enum class Place : uint8_t {
    kBlip,    // after the hit: it does not see the target's state, but what was captured
    kTarget,  // at the hit, as machine code
    kHit,     // not yet split into these two: it may use all there is
  } place = Place::kBlip;
  std::string name;
  uint32_t probe = kNone;   // what fires it; kNone: only calls do
  uint32_t parameters = 0;  // the first locals
  ValueType result = ValueType::kNone;
  std::vector<ValueType> locals;
  std::vector<ValueType> captured;  // what was recorded at the hit
  std::vector<uint32_t> walks;      // the map that each of them walks
  std::vector<Block> blocks;        // it begins with the first

  bool operator==(const Function&) const = default;
};

// What is said when something is printed: its text is for those who show it.
struct Format {
  std::string text;
  std::vector<ValueType> arguments;

  bool operator==(const Format&) const = default;
};

struct Program {
  uint32_t text_limit = 128;  // bytes of one text
  std::vector<std::string> texts;
  std::vector<Table> tables;
  std::vector<state::MapType> maps;
  std::vector<Format> formats;
  std::vector<Function> functions;

  bool operator==(const Program&) const = default;
};

// How kWalk has its order: in `width` and `is_signed`.
inline uint8_t width_of(const state::Order& order) {
  return static_cast<uint8_t>(static_cast<uint8_t>(order.by) | order.which << 2);
}
inline state::Order order_of(const Node& walk) {
  return {.by = static_cast<state::Order::By>(walk.width & 3),
          .which = static_cast<uint8_t>(walk.width >> 2),
          .is_descending = walk.is_signed};
}

// Limits that verify() checks.
inline constexpr size_t kMaxFunctionNodes = 4096;
inline constexpr size_t kMaxBlocks = 256;
inline constexpr size_t kMaxLocals = 64;
inline constexpr size_t kMaxCaptured = 48;
inline constexpr size_t kMaxWalks = 16;
inline constexpr size_t kMaxFunctions = 4096;
inline constexpr size_t kMaxMaps = 256;
inline constexpr size_t kMaxFormats = 4096;
inline constexpr size_t kMaxArguments = 32;  // of a function or a format
inline constexpr uint32_t kMaxText = 1 << 16;

}  // namespace blip::script
