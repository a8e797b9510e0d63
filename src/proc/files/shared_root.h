// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

namespace blip::proc {

// True if paths mean the same to a process as to blip: it has our root and our mounts.
bool shares_root(pid_t pid);

}  // namespace blip::proc
