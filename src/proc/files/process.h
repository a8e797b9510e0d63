// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/fd.h"
#include "base/result.h"
#include "proc/files/status.h"

namespace blip::proc {

// Process 1 is an ancestor of every blip, and the machine ends with it.
enum class Init { kRefuse, kAllow };

// A process that blip may attach to, held by a pidfd so that a reused pid is never taken for it.
class Process {
 public:
  // Refuses, each with its own wording, what does not exist, has ended, cannot be traced by blip (thread ids,
  // kernel threads, blip itself and its ancestors, 32-bit programs, programs under valgrind or in strict
  // seccomp mode), may not be, or already is. Does not disturb the process.
  static Result<Process> open(pid_t pid, Init init = Init::kRefuse);

  pid_t pid() const { return pid_; }
  int pidfd() const { return pidfd_.get(); }
  // Clock ticks after boot; with pid() it names the process for good.
  uint64_t start_time() const { return start_time_; }
  const std::string& comm() const { return comm_; }
  // The target of /proc/PID/exe; it may end in " (deleted)".
  const std::string& exe_path() const { return exe_path_; }
  // The pid the process has in its own namespace.
  pid_t ns_pid() const { return ns_pid_; }
  int seccomp_mode() const { return seccomp_mode_; }

  // False once the process has ended (a zombie has).
  bool alive() const;

 private:
  Process() = default;

  pid_t pid_ = 0;
  Fd pidfd_;
  uint64_t start_time_ = 0;
  std::string comm_;
  std::string exe_path_;
  pid_t ns_pid_ = 0;
  int seccomp_mode_ = 0;
};

}  // namespace blip::proc
