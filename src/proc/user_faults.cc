// SPDX-License-Identifier: MIT
#include "proc/user_faults.h"

#include "proc/target_memory.h"

namespace blip::proc {

// If nobody can say, the process may have one.
bool has_user_faults(pid_t pid) {
  const auto fds = find_target_fds(pid, "anon_inode:[userfaultfd]");
  return !fds || !fds->empty();
}

}  // namespace blip::proc
