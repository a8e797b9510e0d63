// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "proc/files/memory.h"
#include "session/watch/process_watch.h"

namespace blip::session {

struct FamilyNews {
  struct Birth {
    ProcessId child, parent;
  };
  struct Death {
    ProcessId process;
    std::optional<int> status;  // what waitpid(2) would say
  };
  std::vector<Birth> born;
  std::vector<ProcessId> executed;
  std::vector<Death> died;

  void append(const FamilyNews& more);
};

// The traced processes and all their descendants, traced or not: who is born, calls exec, ends. Nobody is
// stopped for it. New ones are found in the list of /proc, not more often than one twentieth of blip's time
// allows; exec and the end of those that are known are seen at every look.
class Family {
 public:
  using Clock = std::chrono::steady_clock;

  // With `descendants` those of the process are found too.
  explicit Family(bool descendants) : descendants_(descendants) {}

  // One that is traced from now on.
  void add(pid_t pid);
  // A child that has just been born. False: it is not there any more.
  bool adopt(pid_t pid, FamilyNews& news);
  FamilyNews look();
  // True if it is time to look for new ones; look() does if it is, or if `hurry()` was called.
  bool scan_is_due() const { return Clock::now() >= next_scan_; }
  void hurry() { next_scan_ = {}; }
  // Gives those that have given up their memory, on their way out, the time to end.
  void wait_for_leaving() const;

  bool empty() const { return members_.empty(); }
  bool has(pid_t pid) const { return members_.contains(pid); }
  // Readable when the process ends.
  std::vector<std::pair<pid_t, int>> pidfds() const;

 private:
  struct Member {
    ProcessId id;
    Fd pidfd;
    std::optional<proc::Memory> memory;  // none: it may not be looked at
    bool before_exec = false;            // forked, and has not called exec since
  };

  static std::optional<Member> open(pid_t pid);
  void scan(FamilyNews& news);
  bool called_exec(Member& member) const;

  bool descendants_;
  std::map<pid_t, Member> members_;
  std::set<pid_t> strangers_;  // looked at already
  Clock::time_point next_scan_{};
};

}  // namespace blip::session
