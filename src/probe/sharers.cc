// SPDX-License-Identifier: MIT
#include "probe/sharers.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "proc/find_processes.h"
#include "proc/maps.h"

namespace blip::probe {

namespace {

std::pair<uint64_t, uint64_t> executable_of(pid_t pid) {
  struct stat file;
  if (::stat(fmt::format("/proc/{}/exe", pid).c_str(), &file) != 0) return {};
  return {file.st_dev, file.st_ino};
}

}  // namespace

MemorySharers::MemorySharers(pid_t pid, const Fd& data_fd) : executable_(executable_of(pid)) {
  struct stat file;
  if (::fstat(data_fd.get(), &file) == 0) memory_ = {file.st_dev, file.st_ino};
}

bool MemorySharers::shares(pid_t pid) const {
  if (executable_of(pid) != executable_) return false;
  const auto maps = proc::read_maps(pid);
  if (!maps) return false;
  return std::any_of(maps->begin(), maps->end(), [&](const proc::Map& map) {
    return map.shared && FileId(map.dev, map.inode) == memory_;
  });
}

std::vector<pid_t> MemorySharers::find() const {
  std::vector<pid_t> sharers;
  for (pid_t pid : proc::list_processes())
    if (pid != ::getpid() && shares(pid)) sharers.push_back(pid);
  return sharers;
}

}  // namespace blip::probe
