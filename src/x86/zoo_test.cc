// SPDX-License-Identifier: MIT
// The instruction zoo: whatever knows where it is, in every encoding, and a few that do not.
#include "x86/zoo.h"

#include <cstring>

#include "x86/zoo_macros.h"

asm(BLIP_ZOO_BEGIN R"(
snippet prologue
  push rbp
  mov rbp, rsp
  push r12
  sub rsp, 32
  mov [rsp+8], rax
  mov r12, [rsp+8]
  add rsp, 32
  pop r13
  pop rbp
  ret
end
snippet mov_load
  mov rax, [rip+1f]
  mov ecx, [rip+1f+8]
  ret
  1: .quad 0x1122334455667788, 0x99aabbccddeeff00
end
snippet mov_store
  mov [rip+1f], rax
  mov dword ptr [rip+1f+8], 12345
  mov byte ptr [rip+1f+12], 7
  ret
  1: .quad 0, 0
end
snippet arithmetic_on_memory
  add qword ptr [rip+1f], 100
  xor rax, [rip+1f]
  cmp word ptr [rip+1f], 1000
  adc edx, dword ptr [rip+1f]
  imul r8, [rip+1f], 1000
  lock xadd [rip+1f], rdx
  ret
  1: .quad 0x123456789
end
snippet lea
  lea rax, [rip+1f]
  lea r9d, [rip+1f]
  lea r15, [rip+1f+100000]
  mov rdx, [rax]
  sub rax, r10
  sub r15, r10
  sub r9d, r10d
  ret
  1: .quad 42
end
snippet push_and_pop_memory
  push qword ptr [rip+1f]
  pop qword ptr [rip+1f+8]
  push qword ptr [rsp]
  pop rax
  push rsp
  pop rbx
  pop qword ptr [rsp-16]
  push rax
  ret 
  1: .quad 0, 0
end
snippet shifts_and_bits
  rol qword ptr [rip+1f], 3
  bts dword ptr [rip+1f], 7
  setc al
  shld [rip+1f], rdx, 5
  popcnt rcx, [rip+1f]
  movbe_free: bswap rcx
  ret
  1: .quad 0x8000000000000001
end
snippet cmpxchg
  cmpxchg [rip+1f], rdx
  cmpxchg16b [rip+2f]
  ret
  1: .quad 5
  .p2align 4
  2: .quad 1, 2
end
snippet string_moves
  mov ecx, 16
  rep movsb
  cld
  stosq
  lodsd
  ret
end
snippet sse
  movups xmm0, [rip+1f]
  addps xmm0, [rip+2f]
  pshufd xmm1, [rip+1f], 0x1b
  cvtsi2sd xmm2, qword ptr [rip+1f]
  ucomisd xmm2, [rip+2f]
  movups [rdi], xmm0
  movups [rdi+16], xmm1
  movsd [rdi+32], xmm2
  ret
  .p2align 4
  1: .quad 0x3f80000040000000, 0x4040000040800000
  2: .quad 0x3f80000040000000, 0x4040000040800000
end
snippet sse_store
  movq xmm3, rax
  movhps [rip+1f], xmm3
  movlps [rip+1f+8], xmm3
  pextrd [rip+1f+16], xmm3, 1
  ret
  1: .quad 0, 0, 0
end
snippet x87
  fld qword ptr [rip+1f]
  fadd dword ptr [rip+2f]
  fistp qword ptr [rip+1f]
  ret
  1: .double 3.75
  2: .float 2.5
end
snippet avx_vex
  vmovups ymm0, [rip+1f]
  vpaddd ymm1, ymm0, [rip+1f]
  vbroadcastss ymm2, [rip+1f]
  vpermq ymm3, [rip+1f], 0x1b
  vinserti128 ymm4, ymm0, [rip+1f], 1
  vextracti128 [rip+2f], ymm3, 1
  vmovups [rdi], ymm1
  vmovups [rdi+32], ymm2
  vmovups [rdi+64], ymm4
  vzeroupper
  ret
  1: .quad 1, 2, 3, 4
  2: .quad 0, 0
end
snippet avx_bmi
  andn rax, rdx, [rip+1f]
  rorx rcx, [rip+1f], 13
  pdep r8, rdx, [rip+1f]
  shlx r9, [rip+1f], rdx
  mulx r11, rbx, [rip+1f]
  ret
  1: .quad 0x123456789abcdef1
end
snippet evex
  vmovdqu64 zmm16, [rip+1f]
  vpaddq zmm17, zmm16, [rip+1f]
  vpaddq zmm18, zmm16, qword ptr [rip+1f]{1to8}
  vpcmpeqq k1, zmm16, [rip+1f]
  vmovdqu64 zmm19{k1}{z}, [rip+1f]
  vpternlogq zmm19, zmm16, [rip+1f], 0x96
  vmovdqu64 [rdi], zmm17
  vmovdqu64 [rdi+64], zmm18
  vmovdqu64 [rdi+128], zmm19
  kmovw eax, k1
  vmovdqu64 [rip+1f], zmm17
  vzeroupper
  ret
  1: .quad 1, 2, 3, 4, 5, 6, 7, 8
end
snippet evex_shared_disp8_forms
  vmovdqu32 xmm20, [rip+1f]
  vmovdqu32 ymm21, [rdi+64]
  vmovsd xmm22, [rip+1f]
  vmovdqu32 [rsi], ymm21
  vmovdqu32 [rsi+32], xmm20
  vmovsd [rsi+48], xmm22
  ret
  1: .quad 11, 12
end
snippet leave
  push rbp
  mov rbp, rsp
  sub rsp, 64
  mov [rbp-16], rsi
  leave
  ret
end
snippet enter
  enter 32, 0
  mov [rsp], rax
  leave
  ret
end
snippet flags_to_stack
  pushfq
  pop rax
  lahf
  seto bl
  stc
  adc rdx, 0
  ret
end
snippet red_zone
  mov [rsp-8], rax
  mov [rsp-64], rdx
  mov rcx, [rsp-8]
  ret
end
snippet absolute_moves
  movabs rax, 0x1122334455667788
  mov rbx, -1
  mov rdx, fs:0
  sub rdx, fs:0
  ret
end
snippet cmov_and_setcc
  cmp eax, edx
  cmovl rax, [rip+1f]
  setbe [rip+1f]
  ret
  1: .quad 77
end
snippet syscall_getpid
  mov eax, 39
  syscall
  xor ecx, ecx
  ret
end
snippet syscall_after_short_instructions
  push 39
  pop rax
  cmc
  syscall
  xor ecx, ecx
  ret
end
snippet push_and_pop_rsp
  push rsp
  pop rsp
  push rsp
  pop rbx
  sub rbx, r10
  lea rax, [rsp-8]
  push rax
  pop rsp
  pop rdx
  ret
end
snippet repeated_strings
  mov ecx, 5
  repe cmpsb
  mov ecx, 3
  repne scasw
  mov ecx, 2
  rep stosq
  rep lodsd
  ret
end
snippet repeated_zero_times
  xor ecx, ecx
  stc
  repne scasb
  repe cmpsq
  rep movsb
  rep lodsq
  ret
end
snippet strings_backwards
  std
  mov ecx, 4
  rep movsw
  stosd
  cld
  ret
end
snippet locked
  lock inc dword ptr [rip+1f]
  lock add word ptr [rip+1f], 1000
  lock bts qword ptr [rip+1f], 33
  lock cmpxchg [rip+1f], rdx
  xchg [rip+1f], r8
  lock cmpxchg16b [rip+2f]
  ret
  .p2align 4
  1: .quad 5, 0
  2: .quad 1, 2
end
snippet immediates_behind_the_displacement
  mov word ptr [rip+1f], 0x1234
  test byte ptr [rip+1f], 0x10
  imul bx, [rip+1f], 300
  rcl dword ptr [rip+1f], 7
  and qword ptr [rip+1f], -2
  ret
  1: .quad 0x8877665544332211
end
snippet segments
  mov rax, fs:[0]
  xor ebx, ebx
  mov rdx, fs:[rbx]
  sub rdx, rax
  sub rax, fs:[0]
  mov rcx, cs:[rip+1f]
  mov ebx, ds
  ret
  1: .quad 99
end
snippet cpuid
  mov eax, 0
  cpuid
  add eax, ecx
  ret
end
snippet time_stamp
  rdtsc
  xor eax, eax
  rdtscp
  xor eax, eax
  xor edx, edx
  xor ecx, ecx
  ret
end
snippet xgetbv
  xor ecx, ecx
  xgetbv
  lfence
  ret
end
snippet popf
  pushfq
  and dword ptr [rsp], 0xcd5
  xor dword ptr [rsp], 0x41
  popfq
  ret
end
snippet notrack_call
  push rbx
  notrack call r10
  pop rbx
  ret
end
snippet masked_store
  movups xmm0, [rip+1f]
  movups xmm1, [rip+2f]
  maskmovdqu xmm0, xmm1
  ret
  1: .quad 0x1122334455667788, 0x99aabbccddeeff00
  2: .quad 0x8000800080008000, 0x0080008000800080
end
snippet avx_gather
  vpxor xmm1, xmm1, xmm1
  vpcmpeqd xmm2, xmm2, xmm2
  vpgatherdd xmm0, [rdi+xmm1*4], xmm2
  vmovups [rsi], xmm0
  ret
end
snippet x87_environment
  fldcw word ptr [rip+1f]
  fldpi
  fld st(0)
  fmulp st(1), st
  fnstsw ax
  fistp qword ptr [rdi]
  fnstcw [rsi]
  fninit
  ret
  1: .word 0xf7f
end
snippet nops
  nop
  xchg ax, ax
  nop dword ptr [rax]
  nop dword ptr [rax+rax+0]
  nop dword ptr cs:[rax+rax+0]
  ret
end
snippet endbr64_first
  endbr64
  push rbx
  lea rax, [rip+1f]
  pop rbx
  1: sub rax, r10
  ret
end
)" BLIP_ZOO_END);

asm(R"(
.intel_syntax noprefix
.text
.globl blip_zoo_callee, blip_zoo_callee_end
.hidden blip_zoo_callee, blip_zoo_callee_end
blip_zoo_callee:
  lea r11, [r11+1]
  ret
blip_zoo_callee_end:
.att_syntax prefix
)");

namespace {
struct TableEntry {
  const uint8_t* begin;
  const uint8_t* end;
  const char* name;
};
}  // namespace

extern "C" {
extern const TableEntry __start_zoo_table[] __attribute__((visibility("hidden")));
extern const TableEntry __stop_zoo_table[] __attribute__((visibility("hidden")));
extern const uint8_t blip_zoo_callee[];
extern const uint8_t blip_zoo_callee_end[];
}

namespace blip::x86::test {

std::vector<Snippet> zoo() {
  std::vector<Snippet> snippets;
  for (auto* e = __start_zoo_table; e != __stop_zoo_table; ++e)
    snippets.push_back({e->name, {e->begin, e->end}});
  return snippets;
}

std::span<const uint8_t> zoo_callee() { return {blip_zoo_callee, blip_zoo_callee_end}; }

}  // namespace blip::x86::test
