// SPDX-License-Identifier: MIT
#pragma once

#include <asm/ptrace.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace blip::machine {

namespace detail {

consteval std::array<int16_t, 32> kernel_registers() {
  std::array<int16_t, 32> offsets{};
  for (int i = 0; i < 31; ++i) offsets[i] = static_cast<int16_t>(offsetof(user_pt_regs, regs) + 8 * i);
  offsets[31] = offsetof(user_pt_regs, sp);
  return offsets;
}

}  // namespace detail

// By the number that instructions encode.
inline constexpr std::array<int16_t, 32> kKernelRegisters = detail::kernel_registers();
inline constexpr int16_t kKernelPc = offsetof(user_pt_regs, pc);
inline constexpr int16_t kKernelFlags = offsetof(user_pt_regs, pstate);

}  // namespace blip::machine
