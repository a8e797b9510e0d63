// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

namespace blip::proc {

// Whether the process has a userfaultfd: reads of memory that it watches may wait, or be a SIGBUS.
bool has_user_faults(pid_t pid);

}  // namespace blip::proc
