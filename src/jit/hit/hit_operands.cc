// SPDX-License-Identifier: MIT
#include "jit/hit/hit_operands.h"

#include <utility>

#include "jit/emit/shadow_code.h"

namespace blip::jit {

using namespace asmjit::x86;  // NOLINT: register names
using script::Node;
using script::Op;

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

void emit_extend(Assembler& a, Gp to, asmjit::Operand from, uint8_t width, bool is_signed) {
  const auto narrow = [&]() -> asmjit::Operand {
    if (!from.isReg()) return from;
    const uint32_t id = from.as<Gp>().id();
    return width == 1 ? asmjit::Operand(gpb(id)) : width == 2 ? asmjit::Operand(gpw(id)) : gpd(id);
  };
  if (width == 8) {
    if (from != to) a.emit(Inst::kIdMov, to, from);
  } else if (width == 4) {
    if (is_signed)
      a.emit(Inst::kIdMovsxd, to, narrow());
    else
      a.emit(Inst::kIdMov, to.r32(), narrow());
  } else if (is_signed) {
    a.emit(Inst::kIdMovsx, to, narrow());
  } else {
    a.emit(Inst::kIdMovzx, to.r32(), narrow());
  }
}

HitOperands::HitOperands(const Emission& emission)
    : a_(emission.code.assembler()), emission_(emission), code_(emission.action.hit.code) {}

void HitOperands::load(Gp to, uint32_t at, uint32_t free_word) const {
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
      return load_vector(to, n, free_word);
    case Op::kFlags:
      a_.mov(to, qword_ptr(rsp, emission_.frame.flags_slot()));
      return;
    case Op::kLoadNear:
      return emit_extend(a_, to, ptr(rsp, emission_.frame.size() + static_cast<int32_t>(n.value), n.width),
                         n.width, n.is_signed);
    case Op::kResult:
      if (emission_.action.is_tail) return load_constant(to, 0);
      return load_register(to, Gp::kIdAx, 8, false);
    case Op::kDepth:
      a_.movzx(to.r32(), word_ptr(rsi, shadow::kOuter));
      return;
    default:  // kTail
      return load_constant(to, emission_.action.is_tail);
  }
}

void HitOperands::load_constant(Gp to, uint64_t value) const {
  if (value <= UINT32_MAX)
    a_.mov(to.r32(), value);
  else
    a_.mov(to, value);
}

void HitOperands::load_register(Gp to, uint8_t reg, uint8_t width, bool is_signed) const {
  if (reg == Gp::kIdSp) {
    a_.lea(to, ptr(rsp, emission_.frame.size()));
    emit_extend(a_, to, to, width, is_signed);
  } else if (const int32_t slot = emission_.frame.slot(reg); slot >= 0) {
    emit_extend(a_, to, ptr(rsp, slot, width), width, is_signed);
  } else {
    emit_extend(a_, to, gpq(reg), width, is_signed);
  }
}

// By way of the stack: no instruction that reads a vector register into a general one is needed, and none
// that writes one may be used.
void HitOperands::load_vector(Gp to, const Node& n, uint32_t free_word) const {
  const Mem word = qword_ptr(rsp, emission_.frame.word(free_word));
  const Xmm from = xmm(static_cast<uint32_t>(n.value));
  if (n.op == Op::kVector)
    a_.movq(word, from);
  else
    a_.movhps(word, from);
  if (n.op == Op::kVector && n.width == 4)
    a_.mov(to.r32(), dword_ptr(rsp, emission_.frame.word(free_word)));
  else
    a_.mov(to, word);
}

std::optional<HitOperands::Direct> HitOperands::direct(uint32_t at) const {
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

// Extension keeps the order: of signed values in both senses, of unsigned ones as unsigned.
std::optional<HitOperands::Comparison> HitOperands::direct_comparison(uint32_t at) const {
  const Node& n = node(at);
  if (!is_comparison(n.op)) {
    const auto x = direct(at);
    if (!x) return {};
    return Comparison{x->operand, asmjit::Imm(0), Cc::kNotEqual};
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
    return Comparison{x->operand, y->operand, cc};
  }
  if (other.op != Op::kConstant) return {};
  const auto number = immediate(other.value, x->width, x->is_signed);
  if (!number) return {};
  return Comparison{x->operand, asmjit::Imm(*number), is_swapped ? mirrored(cc) : cc};
}

std::optional<Cc> HitOperands::emit_direct_comparison(uint32_t at) const {
  const auto found = direct_comparison(at);
  if (!found) return {};
  a_.emit(Inst::kIdCmp, found->left, found->right);
  return found->holds;
}

bool HitOperands::is_direct(uint32_t at) const {
  const Node& n = node(at);
  if (n.op == Op::kLogicalNot) return is_direct(n.a);
  if (n.op == Op::kLogicalAnd || n.op == Op::kLogicalOr) return is_direct(n.a) && is_direct(n.b);
  return direct_comparison(at).has_value();
}

}  // namespace blip::jit
