// SPDX-License-Identifier: MIT
#pragma once

#include <elf.h>

#include <cstdint>

namespace blip::machine {

inline constexpr uint16_t kElfMachine = EM_X86_64;
inline constexpr char kElfMachineName[] = "x86-64";

inline constexpr uint32_t kRelocateRelative = R_X86_64_RELATIVE;
inline constexpr uint32_t kRelocateIndirect = R_X86_64_IRELATIVE;
inline constexpr uint32_t kRelocateWord = R_X86_64_64;
inline constexpr uint32_t kRelocateGlobal = R_X86_64_GLOB_DAT;
inline constexpr uint32_t kRelocateJumpSlot = R_X86_64_JUMP_SLOT;
inline constexpr uint32_t kRelocateCopy = R_X86_64_COPY;

}  // namespace blip::machine
