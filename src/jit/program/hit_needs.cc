// SPDX-License-Identifier: MIT
#include "jit/program/hit_needs.h"

#include <asmjit/x86.h>

#include <algorithm>
#include <bit>

#include "abi/shadow.h"
#include "script/ir/verify.h"

namespace blip::jit {

using asmjit::x86::Gp;
using script::HitProgram;
using script::Node;
using script::Op;
using script::Output;

namespace {

constexpr uint64_t kUnbounded = 1 << 20;  // shared nodes are written once for each use

bool is_simple_leaf(Op op) {
  switch (op) {
    case Op::kConstant:
    case Op::kRegister:
    case Op::kVector:
    case Op::kVectorHigh:
    case Op::kFlags:
    case Op::kLoadNear:
    case Op::kResult:
    case Op::kDepth:
    case Op::kTail:
      return true;
    default:
      return false;
  }
}

bool is_text(Op op) { return op == Op::kTextEqual || op == Op::kTextPrefix || op == Op::kBytesEqual; }

// Bytes of code for the node itself; what its operands need comes on top.
uint64_t own_size(const Node& n, const script::Code& code) {
  switch (n.op) {
    case Op::kLessFloat:
    case Op::kLessEqualFloat:
    case Op::kEqualFloat:
    case Op::kWiden:
      return 192;
    case Op::kLoad:
      return 224;
    case Op::kEntryValue:
      return 128;
    case Op::kTextEqual:
    case Op::kTextPrefix:
    case Op::kBytesEqual:
      return 256 + code.texts[n.value].size() + 3 * std::min(code.texts[n.value].size(), kMaxInlineText);
    case Op::kLookup:  // its rows come once, however many users there are
      return 64 + 16 * std::bit_width(code.tables[n.value].size());
    default:
      return script::arity(n.op) == 0 ? 48 : 80;
  }
}

class Facts {
 public:
  explicit Facts(const script::Code& code) : code_(code) {
    for (const Node& n : code.nodes) all_.push_back(of(n));
  }
  std::vector<NodeFacts> take() { return std::move(all_); }

 private:
  NodeFacts of(const Node& n) {
    NodeFacts f;
    f.code_size = own_size(n, code_);
    const uint32_t operands[] = {n.a, n.b, n.c};
    const unsigned count = script::arity(n.op);
    for (unsigned i = 0; i < count; ++i) {
      const NodeFacts& operand = all_[operands[i]];
      f.may_fault |= operand.may_fault;
      f.reads_far |= operand.reads_far;
      f.needs_calls |= operand.needs_calls;
      f.compares_text |= operand.compares_text;
      f.words = std::max(f.words, operand.words);
      f.code_size = std::min(f.code_size + operand.code_size, kUnbounded);
    }
    if (count == 2 && n.op != Op::kLogicalAnd && n.op != Op::kLogicalOr) {
      const NodeFacts &a = all_[n.a], &b = all_[n.b];
      if (!a.is_simple && !b.is_simple) f.words = std::max(f.words, std::min(a.words, b.words) + 1);
    }
    const bool of_register = n.op == Op::kExtend && code_.nodes[n.a].op == Op::kRegister;
    f.is_simple = is_simple_leaf(n.op) || of_register;
    const bool keeps_rax =
        n.op == Op::kNeg || n.op == Op::kNot || n.op == Op::kExtend || n.op == Op::kLogicalNot;
    f.is_light = f.is_simple || (keeps_rax && all_[n.a].is_light);
    add_reads(n, f);
    return f;
  }

  void add_reads(const Node& n, NodeFacts& f) {
    constexpr uint64_t kRsp = Gp::kIdSp, kRbp = Gp::kIdBp;
    if (n.op == Op::kRegister) f.is_near = n.value == kRsp || n.value == kRbp;
    if (n.op == Op::kAdd || n.op == Op::kSub)
      f.is_near = (all_[n.a].is_near && code_.nodes[n.b].op == Op::kConstant) ||
                  (all_[n.b].is_near && code_.nodes[n.a].op == Op::kConstant);
    if (n.op == Op::kVector || n.op == Op::kVectorHigh) f.words = std::max(f.words, 1U);
    f.compares_text |= is_text(n.op);
    f.may_fault |= n.op == Op::kLoad || n.op == Op::kDiv || n.op == Op::kMod || is_text(n.op) ||
                   n.op == Op::kThreadPointer || n.op == Op::kReturned || n.op == Op::kEntryValue ||
                   n.op == Op::kLookup;
    if (n.op == Op::kLoad) {
      f.words = std::max(f.words, 1U);
      f.reads_far |= !all_[n.a].is_near;
    }
    if (is_text(n.op)) {
      f.words = std::max(f.words, 1U);
      f.reads_far = true;
      f.needs_calls |= code_.texts[n.value].size() > kMaxInlineText;
    }
  }

  const script::Code& code_;
  std::vector<NodeFacts> all_;
};

constexpr uint16_t kValueRegisters = reg_bit(Gp::kIdAx) | reg_bit(Gp::kIdCx) | reg_bit(Gp::kIdDx);
constexpr uint16_t kBufferRegisters = reg_bit(Gp::kIdR8) | reg_bit(Gp::kIdR9);

void add(HitNeeds& needs, const NodeFacts& f) {
  needs.words = std::max(needs.words, f.words);
  needs.code_size = std::min(needs.code_size + f.code_size, kUnbounded);
  needs.registers |= f.is_light ? reg_bit(Gp::kIdAx) : kValueRegisters;
  if (f.compares_text) needs.registers |= kBufferRegisters;
  needs.reads_far |= f.reads_far;
  needs.calls |= f.needs_calls;
}

void add(HitNeeds& needs, const Output& output, const std::vector<NodeFacts>& facts) {
  constexpr uint64_t kValueSize = 64, kMemorySize = 512;
  add(needs, facts[output.node]);
  needs.code_size += output.kind == Output::Kind::kValue ? kValueSize : kMemorySize;
  if (output.kind != Output::Kind::kValue) {
    needs.reads_far = true;
    needs.registers |= kValueRegisters | kBufferRegisters;
    needs.words = std::max(needs.words, 1U);
  }
  if (output.is_dynamic()) needs.registers |= reg_bit(Gp::kIdR11);
  if (output.kind == Output::Kind::kCollected) {
    needs.calls = true;
    needs.code_size += output.steps.size() * sizeof(collect::Step);
  }
  if (output.has_length()) {
    add(needs, facts[output.length]);
    needs.words = std::max({needs.words, facts[output.node].words + 1, 2U});
  }
}

// Bytes of the tables, which lie behind the code.
uint64_t tables_size(const HitProgram& hit) {
  uint64_t rows = 0;
  for (const script::Table& table : hit.code.tables) rows += table.size();
  return rows * sizeof(script::Table::value_type);
}

}  // namespace

std::vector<NodeFacts> facts_of(const script::Code& code) { return Facts(code).take(); }

HitNeeds condition_needs(const HitProgram& hit) {
  HitNeeds needs;
  if (hit.condition == script::kNone) return needs;
  constexpr uint64_t kAround = 192;
  add(needs, facts_of(hit.code)[hit.condition]);
  needs.code_size = 2 * needs.code_size + kAround + tables_size(hit);  // in a section and outside
  return needs;
}

HitNeeds output_needs(const HitProgram& hit) {
  constexpr uint64_t kAround = 96;
  HitNeeds needs;
  if (hit.outputs.empty()) return needs;
  const std::vector<NodeFacts> facts = facts_of(hit.code);
  for (const Output& output : hit.outputs) add(needs, output, facts);
  needs.code_size = 2 * (needs.code_size + kAround) + tables_size(hit);  // in the section and outside
  if (needs.registers != reg_bit(Gp::kIdAx)) needs.registers |= reg_bit(Gp::kIdDi) | reg_bit(Gp::kIdR10);
  return needs;
}

bool reads_far(const HitProgram& hit) {
  return condition_needs(hit).reads_far || output_needs(hit).reads_far;
}

bool mentions(const HitProgram& hit, Op op) {
  return std::any_of(hit.code.nodes.begin(), hit.code.nodes.end(), [&](const Node& n) { return n.op == op; });
}

bool collects(const HitProgram& hit) {
  return std::any_of(hit.outputs.begin(), hit.outputs.end(),
                     [](const Output& o) { return o.kind == Output::Kind::kCollected; });
}

bool asks_kernel(const HitProgram& hit) {
  const auto is_read = [](const Node& n) {
    return n.op == Op::kLoad || is_text(n.op) || n.op == Op::kThreadPointer;
  };
  return std::any_of(hit.code.nodes.begin(), hit.code.nodes.end(), is_read) ||
         std::any_of(hit.outputs.begin(), hit.outputs.end(),
                     [](const Output& o) { return o.kind != Output::Kind::kValue; });
}

bool has_latency_in_frame(const Action& action) {
  return action.latency_in_frame || mentions(action.hit, Op::kLatency);
}

bool outputs_fit_section(const Action& action, const ProcessEnvironment& env) {
  const HitNeeds needs = output_needs(action.hit);
  return env.rseq && !env.monotonic && !needs.calls && (!needs.reads_far || env.geometry.ranges);
}

bool outputs_use_ranges(const Action& action, const ProcessEnvironment& env) {
  return outputs_fit_section(action, env) && output_needs(action.hit).reads_far;
}

bool condition_uses_ranges(const Action& action, const ProcessEnvironment& env) {
  const HitNeeds needs = condition_needs(action.hit);
  return env.rseq && env.geometry.ranges && needs.reads_far && !needs.calls;
}

bool has_dynamic_outputs(const HitProgram& hit) {
  return std::any_of(hit.outputs.begin(), hit.outputs.end(), [](const Output& o) { return o.is_dynamic(); });
}

// Room for values of the entry is made only where it is asked for in time.
Status check_kept(const Action& action, const ProcessEnvironment& env) {
  const bool is_entry = action.effect == Effect::kEnter;
  if (is_entry && action.hit.outputs.empty()) return {};
  if (!is_entry && !mentions(action.hit, Op::kEntryValue)) return {};
  const size_t count = is_entry ? action.hit.outputs.size() : action.kept;
  const bool are_all_kept =
      std::all_of(action.hit.code.nodes.begin(), action.hit.code.nodes.end(),
                  [&](const Node& n) { return n.op != Op::kEntryValue || n.value < action.kept; });
  if (count > abi::kMaxKept || !are_all_kept || env.shadow_size < abi::kShadowSize + abi::kKeptSize)
    return Error(ErrorKind::kUnsupported, "there is no room for values of a call's entry");
  return {};
}

Status check_hit(const Action& action, const ProcessEnvironment& env) {
  const HitNeeds condition = condition_needs(action.hit), outputs = output_needs(action.hit);
  if (Status kept = check_kept(action, env); !kept) return kept;
  if (mentions(action.hit, Op::kLatency) && env.monotonic)
    return Error(ErrorKind::kUnsupported, "expressions with latencies need the TSC");
  const bool is_large = std::max(condition.words, outputs.words) > kMaxHitWords ||
                        condition.code_size + outputs.code_size > kMaxHitCode;
  if (is_large) return Error(ErrorKind::kUnsupported, "the expressions are too long");
  return {};
}

}  // namespace blip::jit
