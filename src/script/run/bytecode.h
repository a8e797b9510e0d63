// SPDX-License-Identifier: MIT
// What the interpreter runs: the nodes of a function one behind the other, with jumps around what is not looked at.
// Made once by flatten.h of a verified program.
//
// A function has slots, of 64 bits: its locals, the nodes of one block, its constants. A text is a range of the texts of the run, those
// of the program first. A slot whose node may be a fault has a mark beside it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "script/blocks/blocks.h"

namespace blip::script {

enum class Opcode : uint8_t {
  kMove,
  kAdd,  // to = a op b, from here on
  kSub,
  kMul,
  kAnd,
  kOr,
  kXor,
  kShl,
  kShr,
  kShrSigned,
  kEqual,
  kNotEqual,
  kLess,
  kLessSigned,
  kLessEqual,
  kLessEqualSigned,  // up to here
  kExtend,           // to = extended a, `number` bits unused
  kExtendSigned,
  kIsNotZero,
  kIsZero,
  kCompute,     // node `number` of the table: by compute() of script/ir/interpret.h
  kObserve,     // the same, of what looks at the target's state or at the hit
  kEffect,      // effect `number`
  kCall,        // call `number`
  kBudget,      // takes `number`; a is 1 where no value of a node is needed any more
  kJump,        // to instruction `to`
  kJumpIfZero,  // of a
  kJumpIfNotZero,
  kJumpIfEqual,  // of a and b
  kJumpIfNotEqual,
  kJumpIfLess,
  kJumpIfNotLess,
  kJumpIfLessSigned,
  kJumpIfNotLessSigned,
  kJumpIfFault,
  kFailIfFault,
  kCopyFault,  // of a
  kClearFault,
  kCountDefault,
  kSwitch,  // by switch `number`
  kReturn,  // a
  kFail,    // with the text a
};

struct Instruction {
  Opcode code;
  uint32_t to = 0, a = 0, b = 0;  // slots; `to` of jumps: an instruction
  uint64_t number = 0;
};

// An operation with its operands as slots.
struct Effect {
  Node node;
  uint32_t operand = 0;
  std::vector<uint32_t> list{};
  std::vector<ValueType> types{};  // of the list
};

struct FlatSwitch {
  std::vector<std::pair<uint64_t, uint32_t>> cases;  // sorted
  uint32_t otherwise = 0;
};

// A text as a slot has it.
inline uint64_t text_slot(size_t begin, size_t size) { return uint64_t{begin} << 32 | size; }

struct FlatFunction {
  std::vector<Instruction> code;
  std::vector<uint64_t> constants;  // the last slots
  uint32_t locals = 0, first_constant = 0;
  uint64_t nodes = 0;  // what a call takes from the budget
  std::vector<uint32_t> text_locals;
  std::vector<Effect> effects;
  std::vector<FlatSwitch> switches;
  // For each block, where it begins, and the instruction at which its failures go on; kNone: nowhere.
  std::vector<std::pair<uint32_t, uint32_t>> on_failure;
};

}  // namespace blip::script
