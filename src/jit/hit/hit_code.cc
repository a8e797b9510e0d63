// SPDX-License-Identifier: MIT
// A node at a time: operands first, the second one in rcx. Where both take computing, the one that needs more
// words of the stack comes first and waits in one of them.
#include "jit/hit/hit_code.h"

#include "jit/emit/kept_block.h"
#include "jit/emit/section.h"
#include "jit/emit/shadow_code.h"
#include "script/ir/verify.h"

namespace blip::jit {

using namespace asmjit::x86;  // NOLINT: register names
using script::Node;
using script::Op;

asmjit::Label TextPool::add(Assembler& a, const std::string& bytes) {
  for (const auto& [label, known] : texts_)
    if (known == bytes) return label;
  return texts_.emplace_back(a.newLabel(), bytes).first;
}

void TextPool::emit(Assembler& a) {
  for (const auto& [label, text] : texts_) {
    a.bind(label);
    a.embed(text.data(), text.size());
  }
}

HitCode::HitCode(const Emission& emission, TextPool& texts)
    : a_(emission.code.assembler()),
      emission_(emission),
      code_(emission.action.hit.code),
      way_(HitWay::kCalls),
      texts_(texts),
      operands_(emission),
      facts_(facts_of(code_)) {}

HitCode::HitCode(const Emission& emission, TextPool& texts, asmjit::Label elsewhere, RangeReads* ranges)
    : HitCode(emission, texts) {
  way_ = HitWay::kSection;
  elsewhere_ = elsewhere;
  ranges_ = ranges;
}

void HitCode::value(uint32_t at) {
  const Node& n = node(at);
  if (facts_[at].is_simple) return operands_.load(rax, at, depth_);
  switch (n.op) {
    case Op::kThreadPointer:
      return thread_pointer();
    case Op::kLatency:
      return latency(n.value);
    case Op::kEntryValue:
      return emit_load_kept(a_, emission_.env, n.value, emission_.frame.size(), fault_);
    case Op::kReturned:
      if (!emission_.action.is_tail) return value(n.a);
      a_.jmp(fault_);
      return;
    case Op::kLoad:
      value(n.a);
      return read(n);
    case Op::kTextEqual:
    case Op::kTextPrefix:
      value(n.a);
      return compare_text(n);
    case Op::kBytesEqual:
      operands(n.a, n.b);
      return compare_bytes(n);
    case Op::kLookup:
      value(n.a);
      return look_up(code_.tables[n.value]);
    case Op::kLogicalAnd:
    case Op::kLogicalOr:
      return truth(at);
    case Op::kSelect:
      return select(n);
    default:
      if (script::arity(n.op) == 1) return unary(n);
      operands(n.a, n.b);
      return binary(n);
  }
}

// ---- arithmetic

// rax and rcx.
void HitCode::operands(uint32_t a, uint32_t b) {
  if (facts_[b].is_simple) {
    value(a);
    operands_.load(rcx, b, depth_);
  } else if (facts_[a].is_simple) {
    value(b);
    a_.mov(rcx, rax);
    operands_.load(rax, a, depth_);
  } else {
    const bool a_first = facts_[a].words >= facts_[b].words;
    value(a_first ? a : b);
    const Mem kept = qword_ptr(rsp, hold_word());
    a_.mov(kept, rax);
    value(a_first ? b : a);
    give_back_word();
    if (a_first) a_.mov(rcx, rax);
    a_.mov(a_first ? rax : rcx, kept);
  }
}

void HitCode::unary(const Node& n) {
  value(n.a);
  switch (n.op) {
    case Op::kNeg:
      a_.neg(rax);
      return;
    case Op::kNot:
      a_.not_(rax);
      return;
    case Op::kExtend:
      return emit_extend(a_, rax, rax, n.width, n.is_signed);
    case Op::kWiden:
      return emit_widen(a_);
    default:  // kLogicalNot
      a_.test(rax, rax);
      a_.sete(al);
      a_.movzx(eax, al);
      return;
  }
}

void HitCode::binary(const Node& n) {
  switch (n.op) {
    case Op::kAdd:
      a_.add(rax, rcx);
      return;
    case Op::kSub:
      a_.sub(rax, rcx);
      return;
    case Op::kMul:
      a_.imul(rax, rcx);
      return;
    case Op::kDiv:
    case Op::kMod:
      return divide(n);
    case Op::kAnd:
      a_.and_(rax, rcx);
      return;
    case Op::kOr:
      a_.or_(rax, rcx);
      return;
    case Op::kXor:
      a_.xor_(rax, rcx);
      return;
    case Op::kShl:
    case Op::kShr:
      return shift(n);
    case Op::kLessFloat:
    case Op::kLessEqualFloat:
    case Op::kEqualFloat:
      emit_float_comparison(a_, n.op);
      break;
    default:
      a_.cmp(rax, rcx);
      set_if(a_, comparison(n.op, n.is_signed), al);
  }
  a_.movzx(eax, al);
}

void HitCode::divide(const Node& n) {
  asmjit::Label done = a_.newLabel(), plain = a_.newLabel();
  a_.test(rcx, rcx);
  a_.jz(fault_);
  if (!n.is_signed) {
    a_.xor_(edx, edx);
    a_.div(rcx);
  } else {
    a_.cmp(rcx, -1);  // the least number by it would trap
    a_.jne(plain);
    a_.neg(rax);
    a_.xor_(edx, edx);
    a_.jmp(done);
    a_.bind(plain);
    a_.cqo();
    a_.idiv(rcx);
    a_.bind(done);
  }
  if (n.op == Op::kMod) a_.mov(rax, rdx);
}

void HitCode::shift(const Node& n) {
  if (n.op == Op::kShr && n.is_signed) {
    asmjit::Label inside = a_.newLabel();
    a_.cmp(rcx, 63);
    a_.jbe(inside);
    a_.mov(ecx, 63);
    a_.bind(inside);
    a_.sar(rax, cl);
    return;
  }
  if (n.op == Op::kShl)
    a_.shl(rax, cl);
  else
    a_.shr(rax, cl);
  a_.cmp(rcx, 64);
  a_.sbb(rdx, rdx);  // all ones if it is less
  a_.and_(rax, rdx);
}

// ---- decisions

void HitCode::truth(uint32_t at) {
  asmjit::Label yes = a_.newLabel(), no = a_.newLabel(), done = a_.newLabel();
  branch(at, yes, no, true);
  a_.bind(yes);
  a_.mov(eax, 1);
  a_.jmp(done);
  a_.bind(no);
  a_.xor_(eax, eax);
  a_.bind(done);
}

void HitCode::select(const Node& n) {
  asmjit::Label yes = a_.newLabel(), no = a_.newLabel(), done = a_.newLabel();
  branch(n.a, yes, no, true);
  a_.bind(yes);
  value(n.b);
  a_.jmp(done);
  a_.bind(no);
  value(n.c);
  a_.bind(done);
}

void HitCode::jump(Cc cc, asmjit::Label pass, asmjit::Label fail, bool passes_next) {
  jump_if(a_, passes_next ? opposite(cc) : cc, passes_next ? fail : pass);
}

void HitCode::branch(uint32_t at, asmjit::Label pass, asmjit::Label fail, bool passes_next) {
  const Node& n = node(at);
  if (n.op == Op::kLogicalNot) return branch(n.a, fail, pass, !passes_next);
  if (n.op == Op::kLogicalAnd || n.op == Op::kLogicalOr) {
    const bool is_and = n.op == Op::kLogicalAnd;
    asmjit::Label second = a_.newLabel();
    branch(n.a, is_and ? second : pass, is_and ? fail : second, is_and);
    a_.bind(second);
    return branch(n.b, pass, fail, passes_next);
  }
  if (const auto cc = operands_.emit_direct_comparison(at)) return jump(*cc, pass, fail, passes_next);
  if (is_comparison(n.op)) {
    operands(n.a, n.b);
    a_.cmp(rax, rcx);
    return jump(comparison(n.op, n.is_signed), pass, fail, passes_next);
  }
  value(at);
  a_.test(rax, rax);
  jump(Cc::kNotEqual, pass, fail, passes_next);
}

}  // namespace blip::jit
