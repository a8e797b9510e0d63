// SPDX-License-Identifier: MIT
#pragma once

#include <sys/syscall.h>

#include <cstdint>
#include <optional>

namespace blip::machine {

inline constexpr long kSysPoll = -1;
inline constexpr long kSysSelect = -1;
inline constexpr long kSysEpollWait = -1;
inline constexpr long kSysPause = -1;
inline constexpr long kSysFork = -1;
inline constexpr long kSysVfork = -1;

// The number that the code before a thread loads for the system call that it is in; `code`: the 8 bytes before its pc.
inline std::optional<uint64_t> call_in_code(uint64_t code) {
  // mov w8 or x8, #number; svc #0
  constexpr uint32_t kMove = 0x52800008, kNumber = 0xffff << 5, kIsWide = 1u << 31, kCall = 0xd4000001;
  const auto move = static_cast<uint32_t>(code);
  if (code >> 32 != kCall || (move & ~(kNumber | kIsWide)) != kMove) return std::nullopt;
  return (move & kNumber) >> 5;
}

}  // namespace blip::machine
