// SPDX-License-Identifier: MIT
#include "proc/user_faults.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

namespace blip::proc {

bool has_user_faults(pid_t pid) {
  std::error_code error;
  const std::filesystem::directory_iterator files(fmt::format("/proc/{}/fd", pid), error);
  if (error) return false;
  return std::any_of(begin(files), end(files), [](const auto& file) {
    std::error_code gone;
    return std::filesystem::read_symlink(file.path(), gone) == "anon_inode:[userfaultfd]";
  });
}

}  // namespace blip::proc
