// SPDX-License-Identifier: MIT
#include "proc/files/executable_path.h"

#include <fmt/core.h>
#include <limits.h>
#include <unistd.h>

#include "proc/files/status.h"

namespace blip::proc {

std::string executable_path(pid_t pid) {
  const auto tid = find_live_thread(pid);
  if (!tid) return {};
  char path[PATH_MAX];
  const ssize_t length =
      ::readlink(fmt::format("/proc/{}/task/{}/exe", pid, *tid).c_str(), path, sizeof path);
  return length > 0 ? std::string(path, static_cast<size_t>(length)) : std::string();
}

}  // namespace blip::proc
