// SPDX-License-Identifier: MIT
// A node at a time: operands first, the second one in rcx. Where both take computing, the one that needs more
// words of the stack comes first and waits in one of them.
#include "jit/hit/hit_code.h"

#include "jit/emit/section.h"
#include "jit/emit/shadow_code.h"
#include "jit/hit/kept_values.h"
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
      code_(emission.program.hit.code),
      way_(HitWay::kCalls),
      texts_(texts),
      facts_(facts_of(code_)) {}

HitCode::HitCode(const Emission& emission, TextPool& texts, asmjit::Label elsewhere, RangeReads* ranges)
    : HitCode(emission, texts) {
  way_ = HitWay::kSection;
  elsewhere_ = elsewhere;
  ranges_ = ranges;
}

void HitCode::value(uint32_t at) {
  const Node& n = node(at);
  if (facts_[at].is_simple) return load(rax, at);
  switch (n.op) {
    case Op::kThreadPointer:
      return thread_pointer();
    case Op::kLatency:
      return latency(n.value);
    case Op::kEntryValue:
      return emit_load_kept(a_, emission_.env, n.value, emission_.frame.size(), fault_);
    case Op::kReturned:
      if (!emission_.program.is_tail) return value(n.a);
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

// ---- what lies somewhere

void HitCode::load(Gp to, uint32_t at) {
  const Node& n = node(at);
  switch (n.op) {
    case Op::kConstant:
      return load_constant(to, n.value);
    case Op::kRegister:
      return load_register(to, static_cast<uint8_t>(n.value), 8, false);
    case Op::kExtend:
      return load_register(to, static_cast<uint8_t>(node(n.a).value), n.width, n.is_signed);
    case Op::kVector:
    case Op::kVectorHigh:
      return load_vector(to, n);
    case Op::kFlags:
      a_.mov(to, qword_ptr(rsp, emission_.frame.flags_slot()));
      return;
    case Op::kLoadNear:
      return extend(to, ptr(rsp, emission_.frame.size() + static_cast<int32_t>(n.value), n.width), n.width,
                    n.is_signed);
    case Op::kResult:
      if (emission_.program.is_tail) return load_constant(to, 0);
      return load_register(to, Gp::kIdAx, 8, false);
    case Op::kDepth:
      a_.movzx(to.r32(), word_ptr(rsi, shadow::kOuter));
      return;
    default:  // kTail
      return load_constant(to, emission_.program.is_tail);
  }
}

void HitCode::load_constant(Gp to, uint64_t value) {
  if (value <= UINT32_MAX)
    a_.mov(to.r32(), value);
  else
    a_.mov(to, value);
}

void HitCode::load_register(Gp to, uint8_t reg, uint8_t width, bool is_signed) {
  if (reg == Gp::kIdSp) {
    a_.lea(to, ptr(rsp, emission_.frame.size()));
    extend(to, to, width, is_signed);
  } else if (const int32_t slot = emission_.frame.slot(reg); slot >= 0) {
    extend(to, ptr(rsp, slot, width), width, is_signed);
  } else {
    extend(to, gpq(reg), width, is_signed);
  }
}

// By way of the stack: no instruction that reads a vector register into a general one is needed, and none
// that writes one may be used.
void HitCode::load_vector(Gp to, const Node& n) {
  const Mem word = qword_ptr(rsp, emission_.frame.word(depth_));
  const Xmm from = xmm(static_cast<uint32_t>(n.value));
  if (n.op == Op::kVector)
    a_.movq(word, from);
  else
    a_.movhps(word, from);
  if (n.op == Op::kVector && n.width == 4)
    a_.mov(to.r32(), dword_ptr(rsp, emission_.frame.word(depth_)));
  else
    a_.mov(to, word);
}

// `from`: memory of that width, or a register of which that much counts.
void HitCode::extend(Gp to, asmjit::Operand from, uint8_t width, bool is_signed) {
  const auto narrow = [&]() -> asmjit::Operand {
    if (!from.isReg()) return from;
    const uint32_t id = from.as<Gp>().id();
    return width == 1 ? asmjit::Operand(gpb(id)) : width == 2 ? asmjit::Operand(gpw(id)) : gpd(id);
  };
  if (width == 8) {
    if (from != to) a_.emit(Inst::kIdMov, to, from);
  } else if (width == 4) {
    if (is_signed)
      a_.emit(Inst::kIdMovsxd, to, narrow());
    else
      a_.emit(Inst::kIdMov, to.r32(), narrow());
  } else if (is_signed) {
    a_.emit(Inst::kIdMovsx, to, narrow());
  } else {
    a_.emit(Inst::kIdMovzx, to.r32(), narrow());
  }
}

// ---- arithmetic

// rax and rcx.
void HitCode::operands(uint32_t a, uint32_t b) {
  if (facts_[b].is_simple) {
    value(a);
    load(rcx, b);
  } else if (facts_[a].is_simple) {
    value(b);
    a_.mov(rcx, rax);
    load(rax, a);
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
      return extend(rax, rax, n.width, n.is_signed);
    case Op::kWiden:
      return emit_widen(a_);
    default:  // kLogicalNot
      a_.test(rax, rax);
      a_.sete(al);
      a_.movzx(eax, al);
      return;
  }
}

namespace {

Cc comparison(Op op, bool is_signed) {
  switch (op) {
    case Op::kEqual:
      return Cc::kEqual;
    case Op::kNotEqual:
      return Cc::kNotEqual;
    case Op::kLess:
      return is_signed ? Cc::kLess : Cc::kBelow;
    default:
      return is_signed ? Cc::kLessEqual : Cc::kBelowEqual;
  }
}

bool is_comparison(Op op) {
  return op == Op::kEqual || op == Op::kNotEqual || op == Op::kLess || op == Op::kLessEqual;
}

}  // namespace

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
  if (const auto cc = direct_comparison(at, true)) return jump(*cc, pass, fail, passes_next);
  if (is_comparison(n.op)) {
    operands(n.a, n.b);
    a_.cmp(rax, rcx);
    return jump(comparison(n.op, n.is_signed), pass, fail, passes_next);
  }
  value(at);
  a_.test(rax, rax);
  jump(Cc::kNotEqual, pass, fail, passes_next);
}

// ---- comparisons of what lies somewhere, without a register

std::optional<HitCode::Direct> HitCode::direct(uint32_t at) const {
  const Node& n = node(at);
  if (n.op == Op::kLoadNear)
    return Direct{ptr(rsp, emission_.frame.size() + static_cast<int32_t>(n.value), n.width), n.width,
                  n.is_signed};
  const bool is_part = n.op == Op::kExtend && node(n.a).op == Op::kRegister;
  if (n.op != Op::kRegister && !is_part) return {};
  const auto reg = static_cast<uint8_t>(is_part ? node(n.a).value : n.value);
  if (reg == Gp::kIdSp) return {};
  const uint8_t width = is_part ? n.width : 8;
  if (const int32_t slot = emission_.frame.slot(reg); slot >= 0)
    return Direct{ptr(rsp, slot, width), width, is_part && n.is_signed};
  const asmjit::Operand whole = gpq(reg), half = gpd(reg), quarter = gpw(reg), byte = gpb(reg);
  return Direct{width == 8   ? whole
                : width == 4 ? half
                : width == 2 ? quarter
                             : byte,
                width, is_part && n.is_signed};
}

namespace {

// Returns the constant if it stays itself when cut to the width and extended again, and if an instruction can
// hold it.
std::optional<int64_t> immediate(uint64_t value, uint8_t width, bool is_signed) {
  const auto number = static_cast<int64_t>(value);
  if (width == 8) return number == static_cast<int32_t>(number) ? std::optional(number) : std::nullopt;
  const unsigned unused = 64 - 8U * width;
  const auto as_signed = static_cast<int64_t>(value << unused) >> unused;
  const bool is_itself = is_signed ? as_signed == number : value << unused >> unused == value;
  return is_itself ? std::optional(as_signed) : std::nullopt;
}

}  // namespace

// Which condition holds if the comparison does. Extension keeps the order: of signed values in both senses,
// of unsigned ones as unsigned.
std::optional<Cc> HitCode::direct_comparison(uint32_t at, bool emit) const {
  const Node& n = node(at);
  if (!is_comparison(n.op)) {
    const auto x = direct(at);
    if (!x) return {};
    if (emit) a_.emit(Inst::kIdCmp, x->operand, asmjit::Imm(0));
    return Cc::kNotEqual;
  }
  auto x = direct(n.a), y = direct(n.b);
  const bool is_swapped = !x;
  if (is_swapped) std::swap(x, y);
  if (!x) return {};
  const Node& other = node(is_swapped ? n.a : n.b);
  const Cc cc = comparison(n.op, n.is_signed && (x->width == 8 || x->is_signed));
  if (y) {
    const bool alike = x->width == y->width && (x->width == 8 || x->is_signed == y->is_signed);
    if (!alike || (x->operand.isMem() && y->operand.isMem())) return {};
    if (emit) a_.emit(Inst::kIdCmp, x->operand, y->operand);
    return cc;
  }
  if (other.op != Op::kConstant) return {};
  const auto number = immediate(other.value, x->width, x->is_signed);
  if (!number) return {};
  if (emit) a_.emit(Inst::kIdCmp, x->operand, asmjit::Imm(*number));
  return is_swapped ? mirrored(cc) : cc;
}

bool HitCode::is_direct(uint32_t at) const {
  const Node& n = node(at);
  if (n.op == Op::kLogicalNot) return is_direct(n.a);
  if (n.op == Op::kLogicalAnd || n.op == Op::kLogicalOr) return is_direct(n.a) && is_direct(n.b);
  return direct_comparison(at, false).has_value();
}

}  // namespace blip::jit
