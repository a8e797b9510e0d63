// SPDX-License-Identifier: MIT
#pragma once

#include <asm/ptrace.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace blip::machine {

// By the number that instructions encode.
inline constexpr std::array<int16_t, 16> kKernelRegisters = {
    offsetof(pt_regs, rax), offsetof(pt_regs, rcx), offsetof(pt_regs, rdx), offsetof(pt_regs, rbx),
    offsetof(pt_regs, rsp), offsetof(pt_regs, rbp), offsetof(pt_regs, rsi), offsetof(pt_regs, rdi),
    offsetof(pt_regs, r8),  offsetof(pt_regs, r9),  offsetof(pt_regs, r10), offsetof(pt_regs, r11),
    offsetof(pt_regs, r12), offsetof(pt_regs, r13), offsetof(pt_regs, r14), offsetof(pt_regs, r15)};
inline constexpr int16_t kKernelPc = offsetof(pt_regs, rip);
inline constexpr int16_t kKernelFlags = offsetof(pt_regs, eflags);

}  // namespace blip::machine
