// SPDX-License-Identifier: MIT
// IEEE 754 by integer instructions (binary32 and binary64 as in its section 3.4).
#include "jit/hit/hit_code.h"

namespace blip::jit {

using namespace asmjit::x86;  // NOLINT: register names

namespace {

constexpr unsigned kMantissaBits = 52, kExponentBits = 11;
constexpr uint32_t kExponentMask = (1 << kExponentBits) - 1;
constexpr uint64_t kSign = uint64_t{1} << 63;

constexpr uint32_t kFloatInfinity = 0x7f80'0000, kFloatLeastNormal = 0x0080'0000, kFloatQuiet = 0x0040'0000;
constexpr unsigned kFloatMantissaBits = 23;
constexpr unsigned kMantissaShift = kMantissaBits - kFloatMantissaBits;
constexpr uint64_t kBiasDifference = 1023 - 127;

// All ones in the exponent and something in the mantissa.
void emit_jump_if_nan(Assembler& a, Gp value, asmjit::Label nan) {
  asmjit::Label number = a.newLabel();
  a.mov(rdx, value);
  a.add(rdx, rdx);
  a.shr(rdx, kMantissaBits + 1);
  a.cmp(edx, kExponentMask);
  a.jne(number);
  a.mov(rdx, value);
  a.shl(rdx, 64 - kMantissaBits);
  a.jnz(nan);
  a.bind(number);
}

// Sign and magnitude to a number that signed comparisons order alike; both zeros become 0.
void emit_ordered(Assembler& a, Gp value) {
  asmjit::Label positive = a.newLabel();
  a.test(value, value);
  a.jns(positive);
  a.mov(rdx, kSign);
  a.sub(rdx, value);
  a.mov(value, rdx);
  a.bind(positive);
}

}  // namespace

void emit_float_comparison(Assembler& a, script::Op op) {
  asmjit::Label unordered = a.newLabel(), done = a.newLabel();
  emit_jump_if_nan(a, rax, unordered);
  emit_jump_if_nan(a, rcx, unordered);
  emit_ordered(a, rax);
  emit_ordered(a, rcx);
  a.cmp(rax, rcx);
  const Cc cc = op == script::Op::kLessFloat        ? Cc::kLess
                : op == script::Op::kLessEqualFloat ? Cc::kLessEqual
                                                    : Cc::kEqual;
  set_if(a, cc, al);
  a.jmp(done);
  a.bind(unordered);
  a.mov(al, 0);
  a.bind(done);
}

void emit_widen(Assembler& a) {
  asmjit::Label special = a.newLabel(), infinity = a.newLabel(), subnormal = a.newLabel(),
                next = a.newLabel(), sign = a.newLabel();
  a.mov(ecx, eax);
  a.and_(ecx, 0x7fff'ffff);
  a.jz(sign);
  a.cmp(ecx, kFloatInfinity);
  a.jae(special);
  a.cmp(ecx, kFloatLeastNormal);
  a.jb(subnormal);
  a.shl(rcx, kMantissaShift);
  a.mov(rdx, kBiasDifference << kMantissaBits);
  a.add(rcx, rdx);
  a.jmp(sign);
  a.bind(special);
  a.je(infinity);
  a.or_(ecx, kFloatQuiet);  // as a conversion does
  a.bind(infinity);
  a.shl(rcx, kMantissaShift);
  a.mov(rdx, uint64_t{kExponentMask} << kMantissaBits);
  a.or_(rcx, rdx);
  a.jmp(sign);
  a.bind(subnormal);  // the mantissa to its place, the exponent down with it
  a.mov(edx, static_cast<uint32_t>(kBiasDifference + 1));
  a.bind(next);
  a.dec(edx);
  a.add(ecx, ecx);
  a.test(ecx, kFloatLeastNormal);
  a.jz(next);
  a.and_(ecx, kFloatLeastNormal - 1);
  a.shl(rcx, kMantissaShift);
  a.shl(rdx, kMantissaBits);
  a.or_(rcx, rdx);
  a.bind(sign);
  a.shr(eax, 31);
  a.shl(rax, 63);
  a.or_(rax, rcx);
}

}  // namespace blip::jit
