// SPDX-License-Identifier: MIT
#include "script/ir/verify.h"

#include <fmt/core.h>

#include <algorithm>

namespace blip::script {

unsigned arity(Op op) {
  switch (op) {
    case Op::kConstant:
    case Op::kRegister:
    case Op::kVector:
    case Op::kVectorHigh:
    case Op::kFlags:
    case Op::kThreadPointer:
    case Op::kLoadNear:
    case Op::kResult:
    case Op::kLatency:
    case Op::kDepth:
    case Op::kTail:
    case Op::kEntryValue:
      return 0;
    case Op::kLoad:
    case Op::kNeg:
    case Op::kNot:
    case Op::kExtend:
    case Op::kWiden:
    case Op::kLogicalNot:
    case Op::kReturned:
    case Op::kTextEqual:
    case Op::kTextPrefix:
    case Op::kLookup:
      return 1;
    case Op::kSelect:
      return 3;
    default:
      return 2;
  }
}

namespace {

constexpr uint64_t kRegisters = 16;
constexpr uint64_t kMostLength = 0x7fff;  // of bytes: a 16-bit length with a flag in the record

Error wrong(size_t at, std::string_view what) {
  return Error(ErrorKind::kInvalid, fmt::format("program: node {}: {}", at, what));
}

bool is_width(uint32_t width) { return width == 1 || width == 2 || width == 4 || width == 8; }

bool fits_displacement(uint64_t value) {
  return static_cast<int64_t>(value) == static_cast<int32_t>(static_cast<uint32_t>(value));
}

bool is_table(const Table& table) {
  const auto is_not_less = [](const auto& a, const auto& b) { return a.first >= b.first; };
  return !table.empty() && table.size() <= kMaxRows &&
         std::adjacent_find(table.begin(), table.end(), is_not_less) == table.end();
}

// The error in the node by itself; null if it is valid.
const char* wrong_with(const Node& n, const Code& code) {
  switch (n.op) {
    case Op::kRegister:
    case Op::kVectorHigh:
      return n.value < kRegisters ? nullptr : "no such register";
    case Op::kVector:
      if (n.width != 4 && n.width != 8) return "the width is neither 4 nor 8";
      return n.value < kRegisters ? nullptr : "no such register";
    case Op::kLoadNear:
      if (!fits_displacement(n.value)) return "too far from the stack pointer";
      [[fallthrough]];
    case Op::kLoad:
    case Op::kExtend:
      return is_width(n.width) ? nullptr : "the width is none of 1, 2, 4 and 8";
    case Op::kTextEqual:
    case Op::kTextPrefix:
    case Op::kBytesEqual:
      return n.value < code.texts.size() ? nullptr : "no such text";
    case Op::kLookup:
      return n.value < code.tables.size() ? nullptr : "no such table";
    default:
      return n.op <= Op::kEntryValue ? nullptr : "no such operation";
  }
}

// The steps from `at` to `end` are those of one element; each sequence has its own behind it.
bool are_steps(const std::vector<collect::Step>& steps, size_t at, size_t end, uint32_t level) {
  for (; at < end; at = steps[at].next) {
    const collect::Step& s = steps[at];
    if (s.next <= at || s.next > end || (s.is_text && s.next != at + 1)) return false;
    if (s.is_text) continue;
    const bool is_counted = s.where != collect::Where::kIndexed || s.count != 0;
    if (level >= collect::kMostLevels || s.stride == 0 || !is_counted || s.limit > UINT16_MAX) return false;
    if (!are_steps(steps, at + 1, s.next, level + 1)) return false;
  }
  return true;
}

const char* wrong_with_steps(const Output& o) {
  if (o.steps.empty() || o.steps.size() > kMaxSteps || o.steps.front().is_text ||
      o.count < collect::kSequenceHead)
    return "its steps begin with no sequence";
  const bool is_one = o.steps.front().next == o.steps.size();
  return is_one && are_steps(o.steps, 0, o.steps.size(), 0) ? nullptr : "its steps are not in order";
}

const char* wrong_with(const Output& o) {
  switch (o.kind) {
    case Output::Kind::kValue:
      return is_width(o.size) ? nullptr : "the size is none of 1, 2, 4 and 8";
    case Output::Kind::kBytes:
    case Output::Kind::kString:
      return o.count > 0 && o.count <= kMostLength ? nullptr : "its count is none";
    case Output::Kind::kSequence:
      return o.count > 0 && o.size > 0 && uint64_t{o.count} * o.size <= kMostLength ? nullptr
                                                                                    : "its count is none";
    case Output::Kind::kCollected:
      return o.count <= kMostLength ? wrong_with_steps(o) : "its count is none";
  }
  return "no such kind";
}

}  // namespace

std::vector<uint32_t> depths(const Code& code) {
  std::vector<uint32_t> result;
  result.reserve(code.nodes.size());
  for (const Node& n : code.nodes) {
    const uint32_t operands[] = {n.a, n.b, n.c};
    uint32_t deepest = 0;
    for (unsigned i = 0; i < arity(n.op); ++i) deepest = std::max(deepest, result[operands[i]]);
    result.push_back(deepest + 1);
  }
  return result;
}

Status verify(const Code& code) {
  if (code.nodes.size() > kMaxNodes) return Error(ErrorKind::kInvalid, "program: too many nodes");
  if (!std::all_of(code.tables.begin(), code.tables.end(), is_table))
    return Error(ErrorKind::kInvalid, "program: a table is empty, too large or not sorted");
  for (size_t i = 0; i < code.nodes.size(); ++i) {
    const Node& n = code.nodes[i];
    if (const char* what = wrong_with(n, code)) return wrong(i, what);
    const uint32_t operands[] = {n.a, n.b, n.c};
    for (unsigned k = 0; k < arity(n.op); ++k)
      if (operands[k] >= i) return wrong(i, "an operand does not come earlier");
  }
  const std::vector<uint32_t> all = depths(code);
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i] > kMaxDepth) return wrong(i, "nested too deep");
  return {};
}

Status verify(const HitProgram& program) {
  TRY_OK(verify(program.code));
  const size_t nodes = program.code.nodes.size();
  if (program.condition != kNone && program.condition >= nodes)
    return Error(ErrorKind::kInvalid, "program: the condition is no node");
  if (program.outputs.size() > kMaxOutputs) return Error(ErrorKind::kInvalid, "program: too many outputs");
  for (size_t i = 0; i < program.outputs.size(); ++i) {
    const Output& o = program.outputs[i];
    const char* what = wrong_with(o);
    if (o.node >= nodes || (o.has_length() && o.length >= nodes)) what = "it is no node";
    if (what) return Error(ErrorKind::kInvalid, fmt::format("program: output {}: {}", i, what));
  }
  return {};
}

}  // namespace blip::script
