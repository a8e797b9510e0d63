// SPDX-License-Identifier: MIT
#include "jit/hit/hit_copy.h"

#include "abi/layout.h"

namespace blip::jit {

using namespace asmjit::x86;  // NOLINT: register names

namespace {

constexpr uint32_t kWord = 8;

// One piece of 1, 2, 4 or 8 bytes.
void emit_piece(Assembler& a, CopyFrom from, const Mem& source, const Mem& to) {
  const auto copy = [&](auto reg) {
    if (from == CopyFrom::kMemory) a.mov(reg, source);
    a.mov(to, reg);
  };
  switch (to.size()) {
    case 8:
      return copy(rcx);
    case 4:
      return copy(ecx);
    case 2:
      return copy(cx);
    default:
      return copy(cl);
  }
}

}  // namespace

void emit_copy(Assembler& a, CopyFrom from, int32_t offset, uint32_t count) {
  constexpr uint32_t kUnrolled = 64;
  if (from == CopyFrom::kZeros) a.xor_(ecx, ecx);
  uint32_t done = 0;
  if (count > kUnrolled) {
    asmjit::Label next = a.newLabel();
    done = count / kWord * kWord;
    a.xor_(r8d, r8d);
    a.bind(next);
    emit_piece(a, from, qword_ptr(rax, r8), qword_ptr(rdi, r8, 0, offset));
    a.add(r8d, kWord);
    a.cmp(r8d, done);
    a.jb(next);
  }
  while (done < count) {
    const uint32_t left = count - done, size = left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
    const auto at = static_cast<int32_t>(done);
    emit_piece(a, from, ptr(rax, at, size), ptr(rdi, offset + at, size));
    done += size;
  }
}

void emit_copy_counted(Assembler& a) {
  asmjit::Label words = a.newLabel(), bytes = a.newLabel(), done = a.newLabel();
  a.xor_(r8d, r8d);
  a.bind(words);
  a.lea(rcx, ptr(r8, kWord));
  a.cmp(rcx, r9);
  a.ja(bytes);
  a.mov(rcx, qword_ptr(rax, r8));
  a.mov(qword_ptr(r11, r8), rcx);
  a.add(r8d, kWord);
  a.jmp(words);
  a.bind(bytes);
  a.cmp(r8, r9);
  a.jae(done);
  a.mov(cl, byte_ptr(rax, r8));
  a.mov(byte_ptr(r11, r8), cl);
  a.inc(r8d);
  a.jmp(bytes);
  a.bind(done);
}

// (x - 0x01...) & ~x & 0x80... has its lowest bit in the first byte of x that is 0.
void emit_copy_text(Assembler& a, uint32_t most, asmjit::Label ran_out) {
  constexpr uint64_t kOnes = 0x0101'0101'0101'0101, kHighs = 0x8080'8080'8080'8080;
  asmjit::Label words = a.newLabel(), bytes = a.newLabel(), found = a.newLabel(), end = a.newLabel(),
                done = a.newLabel();
  a.mov(r9d, most);
  a.cmp(rdx, r9);
  a.cmovb(r9, rdx);
  a.xor_(r8d, r8d);
  a.bind(words);
  a.lea(rcx, ptr(r8, kWord));
  a.cmp(rcx, r9);
  a.ja(bytes);
  a.mov(rcx, qword_ptr(rax, r8));
  a.mov(qword_ptr(r11, r8), rcx);
  a.mov(rdx, 0 - kOnes);
  a.add(rdx, rcx);
  a.not_(rcx);
  a.and_(rdx, rcx);
  a.mov(rcx, kHighs);
  a.and_(rdx, rcx);
  a.jnz(found);
  a.add(r8d, kWord);
  a.jmp(words);
  a.bind(found);
  a.bsf(rdx, rdx);
  a.shr(edx, 3);
  a.lea(ecx, ptr(r8, rdx));
  a.jmp(done);
  a.bind(bytes);
  a.cmp(r8, r9);
  a.jae(end);
  a.movzx(ecx, byte_ptr(rax, r8));
  a.mov(byte_ptr(r11, r8), cl);
  a.test(ecx, ecx);
  a.mov(ecx, r8d);
  a.jz(done);
  a.inc(r8d);
  a.jmp(bytes);
  a.bind(end);
  a.cmp(r8d, most);
  a.jne(ran_out);
  a.mov(ecx, most | abi::kLengthCut);
  a.bind(done);
}

}  // namespace blip::jit
