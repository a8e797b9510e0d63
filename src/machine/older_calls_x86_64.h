// SPDX-License-Identifier: MIT
#pragma once

#include <sys/syscall.h>

namespace blip::machine {

inline constexpr long kSysPoll = SYS_poll;
inline constexpr long kSysSelect = SYS_select;
inline constexpr long kSysEpollWait = SYS_epoll_wait;
inline constexpr long kSysPause = SYS_pause;
inline constexpr long kSysFork = SYS_fork;
inline constexpr long kSysVfork = SYS_vfork;

}  // namespace blip::machine
