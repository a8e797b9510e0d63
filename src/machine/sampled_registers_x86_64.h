// SPDX-License-Identifier: MIT
#pragma once

#include <asm/perf_regs.h>

#include <array>
#include <cstdint>

namespace blip::machine {

// By the number that instructions encode: the kernel's bit.
inline constexpr std::array<uint8_t, 16> kSampledGeneral = {
    PERF_REG_X86_AX,  PERF_REG_X86_CX,  PERF_REG_X86_DX,  PERF_REG_X86_BX, PERF_REG_X86_SP,  PERF_REG_X86_BP,
    PERF_REG_X86_SI,  PERF_REG_X86_DI,  PERF_REG_X86_R8,  PERF_REG_X86_R9, PERF_REG_X86_R10, PERF_REG_X86_R11,
    PERF_REG_X86_R12, PERF_REG_X86_R13, PERF_REG_X86_R14, PERF_REG_X86_R15};
inline constexpr uint8_t kSampledPc = PERF_REG_X86_IP;
inline constexpr uint8_t kSampledFlags = PERF_REG_X86_FLAGS;

}  // namespace blip::machine
