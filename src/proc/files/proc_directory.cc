// SPDX-License-Identifier: MIT
#include "proc/files/proc_directory.h"

#include <fmt/core.h>

#include "proc/files/status.h"

namespace blip::proc {

// /proc has a directory for each thread's id, though it lists only those of processes.
std::string proc_directory(pid_t pid) { return fmt::format("/proc/{}", find_live_thread(pid).value_or(pid)); }

}  // namespace blip::proc
