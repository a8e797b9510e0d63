// SPDX-License-Identifier: MIT
#include "proc/files/find_processes.h"

#include <fmt/core.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string>

#include "base/directory.h"
#include "base/path.h"
#include "proc/files/maps.h"
#include "proc/files/status.h"
#include "proc/files/thread_names.h"

namespace blip::proc {

namespace {

constexpr size_t kCommLength = 15;
constexpr std::string_view kDeleted = " (deleted)";

// Without the directory; of a file that was deleted, the name it had.
std::string executable_basename(pid_t pid) {
  char path[PATH_MAX];
  const ssize_t size = ::readlink(fmt::format("/proc/{}/exe", pid).c_str(), path, sizeof path);
  if (size <= 0) return {};
  std::string_view name(path, static_cast<size_t>(size));
  if (name.ends_with(kDeleted)) name.remove_suffix(kDeleted.size());
  return std::string(basename_of(name));
}

bool owned(pid_t pid) {
  struct stat directory;
  if (::geteuid() == 0) return true;
  return ::stat(fmt::format("/proc/{}", pid).c_str(), &directory) == 0 && directory.st_uid == ::geteuid();
}

std::vector<pid_t> blip_and_ancestors() {
  std::vector<pid_t> own;
  for (pid_t pid = ::getpid(); pid > 0;) {
    own.push_back(pid);
    const auto status = read_status(pid, pid);
    if (!status) break;
    pid = status->ppid;
  }
  return own;
}

}  // namespace

Result<std::vector<pid_t>> list_processes() {
  TRY(const std::vector<std::string> names, list_directory("/proc"));
  std::vector<pid_t> pids;
  for (const std::string& name : names) {
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error == std::errc() && end == name.data() + name.size()) pids.push_back(pid);
  }
  std::sort(pids.begin(), pids.end());
  return pids;
}

bool is_named(pid_t pid, std::string_view name) {
  const std::string executable = executable_basename(pid);
  const auto thread = find_live_thread(pid);
  if (!thread) return false;
  if (executable.empty()) {  // a kernel thread, or one whose executable may not be seen
    const auto stat = read_stat(pid, *thread);
    if (!stat || stat->kernel_thread()) return false;
  }
  return executable == name || read_comm(pid, pid) == name.substr(0, kCommLength);
}

namespace {

template <typename IsMeant>
Result<std::vector<pid_t>> find_own(const IsMeant& is_meant) {
  TRY(const std::vector<pid_t> all, list_processes());
  const std::vector<pid_t> own = blip_and_ancestors();
  std::vector<pid_t> found;
  for (pid_t pid : all) {
    if (std::find(own.begin(), own.end(), pid) != own.end()) continue;
    if (owned(pid) && is_meant(pid)) found.push_back(pid);
  }
  return found;
}

}  // namespace

Result<std::vector<pid_t>> find_processes(std::string_view name) {
  return find_own([&](pid_t pid) { return is_named(pid, name); });
}

Result<std::vector<pid_t>> find_processes_with(const std::function<bool(const std::string&)>& is_meant) {
  return find_own([&](pid_t pid) {
    const auto maps = read_maps(pid);
    return maps && std::any_of(maps->begin(), maps->end(), [&](const Map& map) {
             return map.exec && map.file_backed() && is_meant(map.path);
           });
  });
}

}  // namespace blip::proc
