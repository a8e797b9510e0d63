// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <string>

namespace blip::proc {

// The target of /proc/PID/exe, also for a process whose first thread has ended; empty if it may not be seen.
std::string executable_path(pid_t pid);

}  // namespace blip::proc
