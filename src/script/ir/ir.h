// SPDX-License-Identifier: MIT
// Programs that probes compute at a hit. This is the one form between what users and debugging information
// say and what runs. interpret.h says what it means; jit makes machine code of it. It never writes to the
// target's memory, has no loops, and a read that would fault makes the result a fault instead.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "collect/steps.h"

namespace blip::script {

// All values have 64 bits.
enum class Op : uint8_t {
  kConstant,    // `value`
  kRegister,    // general register `value`, 0..15 in encoding order (rax rcx rdx rbx rsp rbp rsi rdi r8...),
                // as the code left it
  kVector,      // the low 64 bits of xmm register `value`; with width 4 the low 32
  kVectorHigh,  // bits 64 to 127 of it
  kFlags,       // rflags
  kThreadPointer,  // fs base
  kLoad,           // `width` bytes at address a, extended by is_signed; may fault
  kLoadNear,       // the same from the current frame of the stack, `value` bytes from rsp: cannot fault
  kAdd,
  kSub,
  kMul,
  kDiv,  // by is_signed; by zero: a fault; the least number by -1: itself
  kMod,
  kAnd,
  kOr,
  kXor,
  kShl,  // by b; 64 and more: 0
  kShr,  // by is_signed: arithmetic; 64 and more: 0 or all sign bits
  kNeg,
  kNot,     // bits
  kExtend,  // the low `width` bytes of a, extended by is_signed
  kEqual,   // comparisons and logic make 0 or 1; by is_signed
  kNotEqual,
  kLess,
  kLessEqual,
  kLessFloat,       // doubles; unordered: 0
  kLessEqualFloat,  // doubles; unordered: 0
  kEqualFloat,      // doubles; unordered: 0
  kWiden,           // a float (low 32 bits) as a double
  kLogicalAnd,      // b is looked at only if a is not 0: a fault there does not count otherwise
  kLogicalOr,
  kLogicalNot,
  kSelect,      // a ? b : c, the other one is not looked at
  kTextEqual,   // whether the C string at address a is texts[value]; may fault; reads no further than needed
  kTextPrefix,  // whether it begins with texts[value]
  kBytesEqual,  // whether the b bytes (a node: their number) at address a are texts[value]; reads all or none
  kLookup,      // what tables[value] has for a; a fault if it has nothing
  kResult,      // of returns: rax
  kLatency,     // of returns: in ns
  kDepth,       // of returns
  kTail,        // of returns
  kReturned,    // of returns: a; a fault if the call ends with a jump to another function
  kEntryValue,  // of returns: what was kept as `value` at the entry of the call
};

// Operands come earlier in the list.
struct Node {
  Op op = Op::kConstant;
  uint8_t width = 8;  // bytes
  bool is_signed = false;
  uint32_t a = 0, b = 0, c = 0;
  uint64_t value = 0;

  bool operator==(const Node&) const = default;
};

// Keys and their values, sorted by the keys, which differ; not empty.
using Table = std::vector<std::pair<uint64_t, uint64_t>>;

struct Code {
  std::vector<Node> nodes;
  std::vector<std::string> texts;
  std::vector<Table> tables;

  uint32_t add(const Node& node) {
    nodes.push_back(node);
    return static_cast<uint32_t>(nodes.size() - 1);
  }
  uint32_t constant(uint64_t value) { return add({.op = Op::kConstant, .value = value}); }
  bool operator==(const Code&) const = default;
};

// One value of a hit that goes into the record.
struct Output {
  enum class Kind : uint8_t {
    kValue,      // the low `size` bytes of node: 1, 2, 4 or 8
    kBytes,      // `count` bytes at the address `node`: always all of them
    kString,     // the C string at the address `node`, at most `count` bytes without its end
    kSequence,   // `length` (a node) elements of `size` bytes at the address `node`, at most `count` of them
    kCollected,  // what `steps` find at the address `node`, at most `count` bytes; of a kGiven, `length`
                 // elements
  } kind = Kind::kValue;
  uint32_t node = 0;
  uint32_t length = 0;
  uint32_t size = 8;
  uint32_t count = 0;
  std::vector<collect::Step> steps{};

  bool has_length() const { return kind == Kind::kSequence || kind == Kind::kCollected; }
  bool is_dynamic() const { return kind == Kind::kString || has_length(); }
  bool operator==(const Output&) const = default;
};

// How many links of nodes are followed: more than those of a tree or chain of that many.
inline uint32_t hops_of(const Output& output) {
  constexpr uint32_t kOfEach = 8, kSome = 128;
  return output.steps.empty() ? 0 : kSome + kOfEach * output.steps.front().limit;
}

inline constexpr uint32_t kNone = UINT32_MAX;

// A program for one place: outputs are looked at only if `condition` (a node; kNone: always) is neither 0 nor
// a fault.
struct HitProgram {
  Code code;
  uint32_t condition = kNone;
  std::vector<Output> outputs;

  bool empty() const { return condition == kNone && outputs.empty(); }
  bool operator==(const HitProgram&) const = default;
};

// Limits that verify() checks; what is larger is refused where it is made.
inline constexpr size_t kMaxNodes = 1024;
inline constexpr size_t kMaxEntryValues = 14;
inline constexpr size_t kMaxRows = 1024;   // of a table
inline constexpr size_t kMaxSteps = 64;    // of an output that is collected
inline constexpr size_t kMaxOutputs = 48;  // each has a bit that says it is a fault
inline constexpr uint32_t kMaxDepth = 24;  // of operands: each level may need a word of the stack

}  // namespace blip::script
