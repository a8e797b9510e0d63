// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <chrono>

#include "base/error.h"

namespace blip::proc {

// kTimeout, with what the thread does instead of stopping.
Error describe_stuck_thread(pid_t pid, pid_t tid, std::chrono::milliseconds waited);

}  // namespace blip::proc
