// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <vector>

#include "base/addr.h"
#include "base/result.h"

namespace blip::proc {

// Pages of a private file mapping that hold the process's own copy: somebody wrote to them, so they may
// differ from the file. All others are the file's. Asks the kernel (/proc/PID/pagemap) and touches no page,
// where reading the memory would load each.
Result<std::vector<TargetAddr>> private_pages(pid_t pid, AddrRange mapping);

}  // namespace blip::proc
