// SPDX-License-Identifier: MIT
// What /proc tells of any process at this moment. Nothing of it is an error: a process that has gone has none of it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace blip::proc {

// Its words; the process may have written anything there.
std::vector<std::string> command_line_of(pid_t pid);
// The value of a variable at its start; empty: it has none, or blip may not look.
std::string environment_of(pid_t pid, const std::string& name);
pid_t parent_of(pid_t pid);  // 0: not known
std::optional<std::pair<uid_t, gid_t>> owner_of(pid_t pid);

}  // namespace blip::proc
