// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <chrono>

#include "base/error.h"

namespace blip::proc {

// For so long a busy machine may leave a thread without a CPU.
inline constexpr std::chrono::seconds kStarvation{20};

// It will stop as soon as the scheduler gives it a CPU.
bool is_starved(pid_t pid, pid_t tid);

// kTimeout, with what the thread does instead of stopping.
Error describe_stuck_thread(pid_t pid, pid_t tid, std::chrono::milliseconds waited);

}  // namespace blip::proc
