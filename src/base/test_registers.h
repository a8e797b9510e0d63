// SPDX-License-Identifier: MIT
// For tests that call code with a register file of their own and look at what it left.
#pragma once

#include <cstdint>

namespace blip::test {

// In encoding order: rax rcx rdx rbx rsp rbp rsi rdi r8 .. r15, then rflags.
struct Registers {
  uint64_t gpr[16];
  uint64_t rflags;
};
inline constexpr int kRax = 0, kRcx = 1, kRdx = 2, kRbx = 3, kRsp = 4, kRbp = 5, kRsi = 6, kRdi = 7,
                     kR10 = 10;

}  // namespace blip::test

// Intel syntax, rdi pointing to a Registers. All but rsp and rdi, which each caller has its own way with.
// clang-format off
#define BLIP_TEST_LOAD_REGISTERS \
  "mov rax, [rdi]\n"       "mov rcx, [rdi+8]\n"     "mov rdx, [rdi+16]\n"    "mov rbx, [rdi+24]\n"  \
  "mov rbp, [rdi+40]\n"    "mov rsi, [rdi+48]\n"    "mov r8, [rdi+64]\n"     "mov r9, [rdi+72]\n"   \
  "mov r10, [rdi+80]\n"    "mov r11, [rdi+88]\n"    "mov r12, [rdi+96]\n"    "mov r13, [rdi+104]\n" \
  "mov r14, [rdi+112]\n"   "mov r15, [rdi+120]\n"
#define BLIP_TEST_STORE_REGISTERS \
  "mov [rdi], rax\n"       "mov [rdi+8], rcx\n"     "mov [rdi+16], rdx\n"    "mov [rdi+24], rbx\n"  \
  "mov [rdi+40], rbp\n"    "mov [rdi+48], rsi\n"    "mov [rdi+64], r8\n"     "mov [rdi+72], r9\n"   \
  "mov [rdi+80], r10\n"    "mov [rdi+88], r11\n"    "mov [rdi+96], r12\n"    "mov [rdi+104], r13\n" \
  "mov [rdi+112], r14\n"   "mov [rdi+120], r15\n"
#define BLIP_TEST_SAVE_CALLEE_SAVED \
  "push rbx\n" "push rbp\n" "push r12\n" "push r13\n" "push r14\n" "push r15\n"
#define BLIP_TEST_RESTORE_CALLEE_SAVED \
  "pop r15\n" "pop r14\n" "pop r13\n" "pop r12\n" "pop rbp\n" "pop rbx\n"
// clang-format on
