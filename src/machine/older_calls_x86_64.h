// SPDX-License-Identifier: MIT
#pragma once

#include <sys/syscall.h>

#include <cstdint>
#include <optional>

namespace blip::machine {

inline constexpr long kSysPoll = SYS_poll;
inline constexpr long kSysSelect = SYS_select;
inline constexpr long kSysEpollWait = SYS_epoll_wait;
inline constexpr long kSysPause = SYS_pause;
inline constexpr long kSysFork = SYS_fork;
inline constexpr long kSysVfork = SYS_vfork;

// The number that the code before a thread loads for the system call that it is in; `code`: the 8 bytes before its pc.
inline std::optional<uint64_t> call_in_code(uint64_t code) {
  constexpr uint8_t kMoveToEax = 0xb8;  // ?? b8 NN NN NN NN 0f 05: mov $number, %eax; syscall
  if ((code >> 8 & 0xff) != kMoveToEax) return std::nullopt;
  return code >> 16 & 0xffffffff;
}

}  // namespace blip::machine
