// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

namespace blip::proc {

// True if the process has a userfaultfd: reads of memory that it watches may wait, or raise SIGBUS.
bool has_user_faults(pid_t pid);

}  // namespace blip::proc
