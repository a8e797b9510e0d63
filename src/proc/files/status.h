// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace blip::proc {

// The fields of /proc/PID/task/TID/status. Signal sets are masks: signal n is bit n - 1.
struct ProcStatus {
  std::string comm;
  char state = '?';
  pid_t tgid = 0;
  pid_t ppid = 0;
  pid_t tracer_pid = 0;
  std::array<uid_t, 4> uids{};  // real, effective, saved, file system
  std::array<gid_t, 4> gids{};
  std::vector<pid_t> ns_pids;   // from this /proc's namespace to the innermost
  uint64_t pending = 0;         // SigPnd: sent to the thread
  uint64_t shared_pending = 0;  // ShdPnd: sent to the process
  uint64_t blocked = 0;         // SigBlk
  uint64_t ignored = 0;         // SigIgn
  uint64_t caught = 0;          // SigCgt
  uint64_t capabilities = 0;    // CapPrm
  int seccomp_mode = 0;         // 0 off, 1 strict, 2 filter
  uint64_t queued_signals = 0;  // SigQ: of all processes of the user
  uint64_t signal_queue = 0;    // the limit of that: beyond it signals may be pending without being queued

  // Pending signals that will end a system call with EINTR: neither blocked nor without effect.
  uint64_t interrupting_signals() const;
  // No signal that is pending now, or soon will be, is missing in its queue for want of room.
  bool queues_signals() const { return queued_signals < signal_queue / 2; }
  // True if the signal's delivery would do nothing: ignored, or default action "ignore".
  bool ignores(int signal) const;
  // True if the program has a handler for it.
  bool catches(int signal) const { return caught >> (signal - 1) & 1; }
};

// Fails with kGone when the thread has ended.
Result<ProcStatus> read_status(pid_t pid, pid_t tid);
Result<ProcStatus> parse_status(std::string_view text);

// The fields of /proc/PID/task/TID/stat.
struct ProcStat {
  char state = '?';
  pid_t ppid = 0;
  uint32_t flags = 0;
  uint32_t num_threads = 0;  // of the process, exited ones that nobody has taken note of included
  uint64_t start_time = 0;   // clock ticks after boot

  bool kernel_thread() const { return flags & 0x00200000; }  // PF_KTHREAD
  bool exiting() const { return flags & 0x4; }               // PF_EXITING
  bool forked_without_exec() const { return flags & 0x40; }  // PF_FORKNOEXEC
};

Result<ProcStat> read_stat(pid_t pid, pid_t tid);
Result<ProcStat> parse_stat(std::string_view text);

// The time for which the thread has been ready to run and had no CPU; zero where the kernel does not say.
std::chrono::nanoseconds time_without_cpu(pid_t pid, pid_t tid);

// Thread ids of the process in the kernel's order; fails with kGone when the process has ended.
Result<std::vector<pid_t>> list_threads(pid_t pid);

// A thread that has not exited, the leader if possible: a process whose leader has exited shows no memory
// under its own pid. Fails with kGone when there is none.
Result<pid_t> find_live_thread(pid_t pid);

// The whole of a small file of /proc; fails with the errno of open or read.
Result<std::string> read_proc_file(const std::string& path);

}  // namespace blip::proc
