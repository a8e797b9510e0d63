// SPDX-License-Identifier: MIT
#include "proc/memory_sharer.h"

#include <fmt/core.h>
#include <linux/kcmp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/directory.h"
#include "proc/files/status.h"

namespace blip::proc {

namespace {

// An exiting thread gives its memory up before it becomes a zombie; without any it equals all zombies and
// kernel threads.
Result<bool> has_memory(pid_t pid, pid_t tid) {
  const auto sizes = read_proc_file(fmt::format("/proc/{}/task/{}/statm", pid, tid));
  if (sizes) return !sizes->empty() && !sizes->starts_with("0 ");
  const int error = sizes.error().errno_value();
  if (error == ENOENT || error == ESRCH) return false;
  return sizes.error();
}

}  // namespace

Result<std::optional<pid_t>> MemorySharerScan::find() {
  TRY(const std::vector<std::string> names, list_directory("/proc"));
  for (const std::string& name : names) {
    const pid_t other = std::atoi(name.c_str());
    if (other <= 0 || other == pid_ || strangers_.contains(other)) continue;
    const long order = ::syscall(SYS_kcmp, tid_, other, KCMP_VM, 0, 0);
    if (order == 0) {
      TRY(const bool lives, has_memory(pid_, tid_));
      if (lives) return other;
      return Error(ErrorKind::kGone, fmt::format("process {} has ended", pid_), ESRCH);
    }
    if (order < 0 && errno == ENOSYS) return std::nullopt;
    strangers_.insert(other);
  }
  return std::nullopt;
}

}  // namespace blip::proc
