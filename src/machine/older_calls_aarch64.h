// SPDX-License-Identifier: MIT
#pragma once

#include <sys/syscall.h>

namespace blip::machine {

inline constexpr long kSysPoll = -1;
inline constexpr long kSysSelect = -1;
inline constexpr long kSysEpollWait = -1;
inline constexpr long kSysPause = -1;
inline constexpr long kSysFork = -1;
inline constexpr long kSysVfork = -1;

}  // namespace blip::machine
