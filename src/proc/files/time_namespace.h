// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

namespace blip::proc {

// CLOCK_MONOTONIC shows the process the same time as blip (time_namespaces(7)). False if that cannot be told.
bool shares_time_namespace(pid_t pid);

}  // namespace blip::proc
