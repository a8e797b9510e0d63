// SPDX-License-Identifier: MIT
#include "proc/files/exit_status.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/ioctl.h>

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "proc/files/status.h"

namespace blip::proc {

namespace {

constexpr int kExitCodeField = 52;  // of /proc/PID/stat, counted from 1
constexpr int kFirstAfterName = 3;  // the state
constexpr uint64_t kInfoExit = 8;   // PIDFD_INFO_EXIT of <linux/pidfd.h>, which is newer than our headers

// struct pidfd_info of Linux 6.15.
struct PidfdInfo {
  uint64_t mask;
  uint64_t cgroup_id;
  uint32_t ids[11];  // pid, tgid, ppid, four uids, four gids
  int32_t exit_code;
};
static_assert(sizeof(PidfdInfo) == 64);
constexpr unsigned long kGetInfo = _IOWR(0xff, 11, PidfdInfo);  // PIDFD_GET_INFO

std::optional<int> of_zombie(pid_t pid) {
  const auto text = read_proc_file(fmt::format("/proc/{}/stat", pid));
  if (!text) return std::nullopt;
  const size_t name_end = text->rfind(')');
  if (name_end == std::string::npos || name_end + 2 >= text->size()) return std::nullopt;
  std::string_view rest = std::string_view(*text).substr(name_end + 2);
  if (rest.front() != 'Z' && rest.front() != 'X') return std::nullopt;
  for (int field = kFirstAfterName; field < kExitCodeField; ++field) {
    const size_t space = rest.find(' ');
    if (space == std::string_view::npos) return std::nullopt;
    rest.remove_prefix(space + 1);
  }
  int status = 0;
  if (std::from_chars(rest.data(), rest.data() + rest.size(), status).ec != std::errc()) return std::nullopt;
  return status;
}

std::optional<int> of_pidfd(int pidfd) {
  PidfdInfo info{};
  info.mask = kInfoExit;
  if (::ioctl(pidfd, kGetInfo, &info) != 0 || (info.mask & kInfoExit) == 0) return std::nullopt;
  return info.exit_code;
}

bool has_ended(int pidfd) {
  pollfd entry{pidfd, POLLIN, 0};
  return ::poll(&entry, 1, 0) > 0;
}

}  // namespace

// A leader that has ended is a zombie although its process lives: hence has_ended(). One that nobody has
// waited for cannot have lost its pid to another process: hence the pidfd first, and again, should that
// happen just now.
std::optional<int> exit_status(pid_t pid, int pidfd) {
  if (!has_ended(pidfd)) return std::nullopt;
  if (const auto status = of_pidfd(pidfd)) return status;
  if (const auto status = of_zombie(pid)) return status;
  return of_pidfd(pidfd);
}

}  // namespace blip::proc
