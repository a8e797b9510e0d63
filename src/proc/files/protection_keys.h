// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

namespace blip::proc {

// True if only threads that have its key can read some memory of the process (pkeys(7)), or if that is
// unknown.
bool uses_protection_keys(pid_t pid);

}  // namespace blip::proc
