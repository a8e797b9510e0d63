// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <optional>
#include <unordered_set>

#include "base/result.h"

namespace blip::proc {

// Looks again and again for processes in the memory of a thread. A process that was seen outside of it stays
// outside (only clone makes a process share memory), so that a second look costs little.
class MemorySharerScan {
 public:
  // `tid` must have memory: not an exited leader.
  MemorySharerScan(pid_t pid, pid_t tid) : pid_(pid), tid_(tid) {}

  // A process other than pid in the same memory. None where the kernel has no kcmp(2).
  Result<std::optional<pid_t>> find();

 private:
  pid_t pid_;
  pid_t tid_;
  std::unordered_set<pid_t> strangers_;
};

}  // namespace blip::proc
