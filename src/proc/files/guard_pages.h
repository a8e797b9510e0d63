// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <optional>
#include <span>
#include <vector>

#include "base/addr.h"
#include "base/result.h"

namespace blip::proc {

// Pages in these mappings (ascending) that are a SIGSEGV to touch although /proc/PID/maps shows them as
// readable: MADV_GUARD_INSTALL, since Linux 6.13, for stacks of threads. None: the kernel has them and cannot
// tell.
Result<std::optional<std::vector<AddrRange>>> guard_pages(pid_t pid, std::span<const AddrRange> mappings);

}  // namespace blip::proc
