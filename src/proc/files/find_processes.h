// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace blip::proc {

// All processes /proc shows, in the order of their pids.
Result<std::vector<pid_t>> list_processes();

// True if the process's command name (comm, cut at 15 bytes as the kernel does) or its executable's base name
// is `name`. False for kernel threads and for processes that have ended.
bool is_named(pid_t pid, std::string_view name);

// Processes of that name that blip's user owns (root: all), without blip itself and its ancestors.
Result<std::vector<pid_t>> find_processes(std::string_view name);

// The same, of those that have mapped code of a file for which `is_meant` is true.
Result<std::vector<pid_t>> find_processes_with(const std::function<bool(const std::string& path)>& is_meant);

}  // namespace blip::proc
