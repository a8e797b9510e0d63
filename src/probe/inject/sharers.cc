// SPDX-License-Identifier: MIT
#include "probe/inject/sharers.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "proc/files/find_processes.h"
#include "proc/files/links.h"
#include "proc/files/maps.h"
#include "proc/files/status.h"
#include "proc/files/thread_names.h"

// What /proc tells about a process that may not be looked at: its parent, its name, when it started, whether
// it has called exec since (PF_FORKNOEXEC). A process that was forked after the memory came to be, did not
// exec, and descends from the traced one has the memory for certain, if the fork was made by one that has it.
// The line of descent breaks where a parent has ended; then the name and the adopting parent stand in for it.

namespace blip::probe {

namespace {

constexpr int kMostGenerations = 64;
constexpr pid_t kInit = 1;

enum class Look { kFine, kGone, kDenied };

Look executable_of(pid_t pid, std::pair<uint64_t, uint64_t>& into) {
  struct stat file;
  if (::stat(proc::executable_link(pid).c_str(), &file) != 0)
    return errno == EACCES || errno == EPERM ? Look::kDenied : Look::kGone;
  into = {file.st_dev, file.st_ino};
  return Look::kFine;
}

uint64_t ticks_since_boot() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  const auto per_second = static_cast<uint64_t>(::sysconf(_SC_CLK_TCK));
  return static_cast<uint64_t>(now.tv_sec) * per_second +
         static_cast<uint64_t>(now.tv_nsec) * per_second / 1'000'000'000;
}

std::vector<pid_t> ancestors_of(pid_t pid) {
  std::vector<pid_t> ancestors;
  for (int i = 0; i < kMostGenerations; ++i) {
    const auto stat = proc::read_stat(pid, pid);
    if (!stat || stat->ppid == 0) break;
    ancestors.push_back(pid = stat->ppid);
  }
  return ancestors;
}

bool contains(const std::vector<pid_t>& pids, pid_t pid) {
  return std::find(pids.begin(), pids.end(), pid) != pids.end();
}

}  // namespace

MemorySharers::MemorySharers(pid_t pid, const Fd& data_fd)
    : pid_(pid), comm_(proc::read_comm(pid, pid)), ancestors_(ancestors_of(pid)), since_(ticks_since_boot()) {
  (void)executable_of(pid, executable_);
  struct stat file;
  if (::fstat(data_fd.get(), &file) == 0) memory_ = {file.st_dev, file.st_ino};
}

bool MemorySharers::shares(pid_t pid) const {
  FileId executable;
  if (executable_of(pid, executable) != Look::kFine || executable != executable_) return false;
  const auto maps = proc::read_maps(pid);
  if (!maps) return false;
  return std::any_of(maps->begin(), maps->end(), [&](const proc::Map& map) {
    return map.shared && FileId(map.dev, map.inode) == memory_;
  });
}

Result<std::vector<pid_t>> MemorySharers::find() const {
  TRY(const std::vector<pid_t> all, proc::list_processes());
  std::vector<pid_t> sharers;
  for (pid_t pid : all)
    if (pid != ::getpid() && shares(pid)) sharers.push_back(pid);
  return sharers;
}

bool MemorySharers::is_alone() const {
  const auto sharers = find(), hidden = find_hidden();
  const auto is_it = [&](pid_t pid) { return pid == pid_; };
  return sharers && hidden && hidden->empty() && std::all_of(sharers->begin(), sharers->end(), is_it);
}

bool MemorySharers::hides(pid_t pid) const {
  FileId unused;
  if (pid == pid_ || executable_of(pid, unused) != Look::kDenied) return false;
  const auto stat = proc::read_stat(pid, pid);
  if (!stat || stat->state == 'Z' || stat->state == 'X' || stat->kernel_thread()) return false;
  return stat->forked_without_exec() && stat->start_time >= since_ && is_relative(pid, stat->ppid);
}

bool MemorySharers::is_relative(pid_t pid, pid_t parent) const {
  if (parent == pid_ || contains(ancestors_of(parent), pid_)) return true;
  const bool adopted = parent == kInit || contains(ancestors_, parent);
  return adopted && proc::read_comm(pid, pid) == comm_;
}

Result<std::vector<pid_t>> MemorySharers::find_hidden() const {
  std::vector<pid_t> hidden;
  if (::geteuid() == 0) return hidden;
  TRY(const std::vector<pid_t> all, proc::list_processes());
  for (pid_t pid : all)
    if (hides(pid)) hidden.push_back(pid);
  return hidden;
}

}  // namespace blip::probe
