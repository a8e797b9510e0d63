// SPDX-License-Identifier: MIT
#include "script/blocks/operations.h"

#include <algorithm>
#include <array>

namespace blip::script {

namespace {

using V = ValueIs;
using R = ResultIs;
using W = WidthIs;

// Of either enumeration.
struct AnyOp {
  constexpr AnyOp(Op of) : op(of) {}
  constexpr AnyOp(BlockOp of) : op(op_of(of)) {}
  Op op;
};

// The shapes that several operations have.
constexpr Operation leaf(AnyOp op, std::string_view name) {
  return {.op = op.op, .name = name, .runs_at = RunsAt::kTarget};
}
constexpr Operation with_value(Operation o, ValueIs value) {
  o.value = value;
  return o;
}
constexpr Operation with_width(Operation o, bool has_sign) {
  o.width = W::kBytes;
  o.has_sign = has_sign;
  return o;
}
constexpr Operation faulting(Operation o) {
  o.may_fault = true;
  return o;
}
constexpr Operation pure(AnyOp op, std::string_view name, uint8_t operands, bool has_sign = false) {
  return {.op = op.op, .name = name, .operands = operands, .has_sign = has_sign};
}
constexpr Operation at_target(Operation o) {
  o.runs_at = RunsAt::kTarget;
  return o;
}
constexpr Operation in_blip(Operation o) {
  o.runs_at = RunsAt::kBlip;
  return o;
}
constexpr Operation making(Operation o, ResultIs result) {
  o.result = result;
  return o;
}
constexpr Operation of_key(AnyOp op, std::string_view name, ResultIs result) {
  return {.op = op.op, .name = name, .value = V::kMap, .result = result, .list = ListIs::kKey};
}
constexpr Operation of_map(AnyOp op, std::string_view name, ResultIs result) {
  return {.op = op.op, .name = name, .value = V::kMap, .result = result, .runs_at = RunsAt::kBlip};
}
constexpr Operation of_walk(AnyOp op, std::string_view name, ResultIs result) {
  return {.op = op.op, .name = name, .value = V::kWalk, .result = result, .runs_at = RunsAt::kBlip};
}
constexpr Operation taking(Operation o, TakesWhat takes) {
  o.takes = takes;
  o.operands = 1;
  return o;
}
constexpr Operation with_list(AnyOp op, std::string_view name, ValueIs value, ResultIs result) {
  return {.op = op.op, .name = name, .value = value, .result = result, .list = ListIs::kArguments};
}

// In the order of Op.
constexpr std::array<Operation, kOperations> kTable{{
    with_value(pure(Op::kConstant, "constant", 0), V::kNumber),
    with_value(leaf(Op::kRegister, "register"), V::kRegister),
    with_width(with_value(leaf(Op::kVector, "vector"), V::kRegister), false),
    with_value(leaf(Op::kVectorHigh, "vector_high"), V::kRegister),
    leaf(Op::kFlags, "flags"),
    leaf(Op::kThreadPointer, "thread_pointer"),
    at_target(faulting(with_width(pure(Op::kLoad, "load", 1), true))),
    with_width(with_value(leaf(Op::kLoadNear, "load_near"), V::kNumber), true),
    pure(Op::kAdd, "add", 2),
    pure(Op::kSub, "sub", 2),
    pure(Op::kMul, "mul", 2),
    faulting(pure(Op::kDiv, "div", 2, true)),
    faulting(pure(Op::kMod, "mod", 2, true)),
    pure(Op::kAnd, "and", 2),
    pure(Op::kOr, "or", 2),
    pure(Op::kXor, "xor", 2),
    pure(Op::kShl, "shl", 2),
    pure(Op::kShr, "shr", 2, true),
    pure(Op::kNeg, "neg", 1),
    pure(Op::kNot, "not", 1),
    with_width(pure(Op::kExtend, "extend", 1), true),
    pure(Op::kEqual, "equal", 2),
    pure(Op::kNotEqual, "not_equal", 2),
    pure(Op::kLess, "less", 2, true),
    pure(Op::kLessEqual, "less_equal", 2, true),
    pure(Op::kLessFloat, "less_float", 2),
    pure(Op::kLessEqualFloat, "less_equal_float", 2),
    pure(Op::kEqualFloat, "equal_float", 2),
    pure(Op::kWiden, "widen", 1),
    pure(Op::kLogicalAnd, "logical_and", 2),
    pure(Op::kLogicalOr, "logical_or", 2),
    pure(Op::kLogicalNot, "logical_not", 1),
    {.op = Op::kSelect, .name = "select", .operands = 3, .result = R::kOfB, .takes = TakesWhat::kSame},
    at_target(faulting(with_value(pure(Op::kTextEqual, "text_equal", 1), V::kText))),
    at_target(faulting(with_value(pure(Op::kTextPrefix, "text_prefix", 1), V::kText))),
    at_target(faulting(with_value(pure(Op::kBytesEqual, "bytes_equal", 2), V::kText))),
    faulting(with_value(pure(Op::kLookup, "lookup", 1), V::kTable)),
    leaf(Op::kResult, "result"),
    leaf(Op::kLatency, "latency"),
    leaf(Op::kDepth, "depth"),
    leaf(Op::kTail, "tail"),
    at_target(faulting(pure(Op::kReturned, "returned", 1))),
    faulting(with_value(leaf(Op::kEntryValue, "entry_value"), V::kNumber)),

    making(with_value(pure(BlockOp::kText, "text", 0), V::kText), R::kText),
    making(at_target(faulting(with_value(pure(BlockOp::kReadText, "read_text", 1), V::kNumber))), R::kText),
    making(at_target(faulting(with_value(pure(BlockOp::kReadBytes, "read_bytes", 2), V::kNumber))), R::kText),
    {.op = op_of(BlockOp::kDefault),
     .name = "default",
     .operands = 2,
     .result = R::kOfA,
     .takes = TakesWhat::kSame},
    pure(BlockOp::kClock, "clock", 0),
    pure(BlockOp::kProbe, "probe", 0),
    pure(BlockOp::kPid, "pid", 0),
    pure(BlockOp::kTid, "tid", 0),
    pure(BlockOp::kCpu, "cpu", 0),
    pure(BlockOp::kUid, "uid", 0),
    pure(BlockOp::kGid, "gid", 0),
    faulting(with_value(pure(BlockOp::kStack, "stack", 0), V::kNumber)),
    in_blip(
        making(faulting(with_value(pure(BlockOp::kCaptured, "captured", 0), V::kCaptured)), R::kOfCaptured)),
    making(with_value(pure(BlockOp::kLocal, "local", 0), V::kLocal), R::kOfLocal),
    in_blip(making(pure(BlockOp::kFailure, "failure", 0), R::kText)),

    {.op = op_of(BlockOp::kSet),
     .name = "set",
     .operands = 1,
     .value = V::kLocal,
     .result = R::kNothing,
     .takes = TakesWhat::kLocal},
    of_key(BlockOp::kGet, "get", R::kOfMap),
    of_key(BlockOp::kHas, "has", R::kNumber),
    taking(of_key(BlockOp::kPut, "put", R::kNothing), TakesWhat::kMap),
    taking(of_key(BlockOp::kAddTo, "add_to", R::kNumber), TakesWhat::kNumbers),
    taking(of_key(BlockOp::kTally, "tally", R::kNothing), TakesWhat::kNumbers),
    {.op = op_of(BlockOp::kStatistic),
     .name = "statistic",
     .value = V::kMap,
     .width = W::kStatistic,
     .list = ListIs::kKey,
     .runs_at = RunsAt::kBlip,
     .may_fault = true},
    of_key(BlockOp::kDelete, "delete", R::kNumber),
    of_map(BlockOp::kClear, "clear", R::kNothing),
    of_map(BlockOp::kZero, "zero", R::kNothing),
    of_map(BlockOp::kSize, "size", R::kNumber),
    {.op = op_of(BlockOp::kWalk),
     .name = "walk",
     .operands = 1,
     .value = V::kWalk,
     .result = R::kNothing,
     .width = W::kOrder,
     .has_sign = true,
     .runs_at = RunsAt::kBlip},
    of_walk(BlockOp::kNext, "next", R::kNumber),
    {.op = op_of(BlockOp::kWalkKey),
     .name = "walk_key",
     .value = V::kWalk,
     .result = R::kOfWalkedKey,
     .width = W::kComponent,
     .runs_at = RunsAt::kBlip},
    of_walk(BlockOp::kWalkValue, "walk_value", R::kOfWalkedValue),
    with_list(BlockOp::kEmit, "emit", V::kFormat, R::kNothing),
    in_blip(with_list(BlockOp::kSprint, "sprint", V::kFormat, R::kText)),
    {.op = op_of(BlockOp::kPrint),
     .name = "print",
     .value = V::kMap,
     .result = R::kNothing,
     .list = ListIs::kKeyOrAll,
     .runs_at = RunsAt::kBlip},
    in_blip(with_list(BlockOp::kCall, "call", V::kFunction, R::kOfFunction)),
    in_blip(with_list(BlockOp::kApply, "apply", V::kLibrary, R::kOfLibrary)),
    making(with_value(pure(BlockOp::kBudget, "budget", 0), V::kNumber), R::kNothing),
    making(pure(BlockOp::kExit, "exit", 1), R::kNothing),
}};

constexpr bool is_in_the_order_of_op() {
  for (size_t i = 0; i < kOperations; ++i)
    if (kTable[i].op != static_cast<Op>(i)) return false;
  return true;
}
static_assert(is_in_the_order_of_op());

}  // namespace

const Operation& operation(Op op) { return kTable[static_cast<size_t>(op)]; }

const Operation* find_operation(std::string_view name) {
  const auto* found =
      std::find_if(kTable.begin(), kTable.end(), [&](const Operation& o) { return o.name == name; });
  return found == kTable.end() ? nullptr : found;
}

Operands operands_of(const Node& node) {
  const Operation& o = operation(node.op);
  if (o.list != ListIs::kNothing) return {{node.c, 0, 0}, o.operands};
  return {{node.a, node.b, node.c}, o.operands};
}

}  // namespace blip::script
