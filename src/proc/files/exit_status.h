// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <optional>

namespace blip::proc {

// How a process ended, in the words of waitpid(2), for one that is not a child of blip's: as long as it is a
// zombie from /proc, afterwards from its pidfd, where the kernel keeps it (6.15 and later). None: it lives,
// or nobody knows any more.
std::optional<int> exit_status(pid_t pid, int pidfd);

}  // namespace blip::proc
