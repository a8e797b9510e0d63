// SPDX-License-Identifier: MIT
#pragma once

#include <asm/perf_regs.h>

#include <array>
#include <cstdint>

namespace blip::machine {

// x0 to x30, then sp: the kernel's bits have the same order.
inline constexpr auto kSampledGeneral = [] {
  std::array<uint8_t, 32> bits{};
  for (uint8_t i = 0; i < bits.size(); ++i) bits[i] = i;
  return bits;
}();
inline constexpr uint8_t kSampledPc = PERF_REG_ARM64_PC;
inline constexpr uint8_t kSampledFlags = 0xff;  // samples have none

}  // namespace blip::machine
