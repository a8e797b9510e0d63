// SPDX-License-Identifier: MIT
#include "proc/stuck_thread.h"

#include <fmt/core.h>
#include <sched.h>
#include <sys/syscall.h>

#include <cstdlib>
#include <string>

#include "machine/older_calls.h"
#include "proc/files/status.h"

namespace blip::proc {

namespace {

std::string thread_file(pid_t pid, pid_t tid, const char* name) {
  return read_proc_file(fmt::format("/proc/{}/task/{}/{}", pid, tid, name)).value_or("");
}

// The file holds "NUMBER 0xARG0 ..." of the system call the thread waits in. A thread held in clone3 waits
// for a child: all that can be waited for there is CLONE_VFORK.
bool waits_for_vfork_child(pid_t pid, pid_t tid) {
  const std::string text = thread_file(pid, tid, "syscall");
  char* rest = nullptr;
  const long number = std::strtol(text.c_str(), &rest, 10);
  if (rest == text.c_str()) return false;
  if (number == SYS_clone) return std::strtoull(rest, nullptr, 16) & CLONE_VFORK;
  return number == machine::kSysVfork || number == SYS_clone3;
}

}  // namespace

bool is_starved(pid_t pid, pid_t tid) {
  const auto stat = read_stat(pid, tid);
  return stat && (stat->state == 'R' || stat->state == 't');  // t: it has stopped since it was asked
}

Error describe_stuck_thread(pid_t pid, pid_t tid, std::chrono::milliseconds waited) {
  if (waits_for_vfork_child(pid, tid))
    return Error(ErrorKind::kTimeout,
                 fmt::format("process {}: thread {} waits for its vfork child: try again when that "
                             "has ended or called exec",
                             pid, tid));
  const auto stat = read_stat(pid, tid);
  const std::string wait_channel = thread_file(pid, tid, "wchan");
  return Error(
      ErrorKind::kTimeout,
      fmt::format("process {}: thread {} did not stop within {} ms (state {}, in {}): try again later", pid,
                  tid, waited.count(), stat ? stat->state : '?',
                  wait_channel.empty() || wait_channel == "0" ? "unknown" : wait_channel));
}

}  // namespace blip::proc
