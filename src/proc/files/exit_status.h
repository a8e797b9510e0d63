// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <optional>

namespace blip::proc {

// How a process ended, in the words of waitpid(2), if it is not a child of blip's. A zombie's status is in
// /proc; later the kernel keeps it behind the pidfd (6.15 and later). Nullopt if the process lives, or nobody
// knows any more.
std::optional<int> exit_status(pid_t pid, int pidfd);

}  // namespace blip::proc
