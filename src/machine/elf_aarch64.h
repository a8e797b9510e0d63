// SPDX-License-Identifier: MIT
#pragma once

#include <elf.h>

#include <cstdint>

namespace blip::machine {

inline constexpr uint16_t kElfMachine = EM_AARCH64;
inline constexpr char kElfMachineName[] = "AArch64";

inline constexpr uint32_t kRelocateRelative = R_AARCH64_RELATIVE;
inline constexpr uint32_t kRelocateIndirect = R_AARCH64_IRELATIVE;
inline constexpr uint32_t kRelocateWord = R_AARCH64_ABS64;
inline constexpr uint32_t kRelocateGlobal = R_AARCH64_GLOB_DAT;
inline constexpr uint32_t kRelocateJumpSlot = R_AARCH64_JUMP_SLOT;
inline constexpr uint32_t kRelocateCopy = R_AARCH64_COPY;

}  // namespace blip::machine
