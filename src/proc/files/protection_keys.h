// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

namespace blip::proc {

// Whether some memory of the process can be read only by threads that have its key (pkeys(7)); also where
// that cannot be told.
bool uses_protection_keys(pid_t pid);

}  // namespace blip::proc
