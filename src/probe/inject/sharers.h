// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace blip::probe {

// Finds, by /proc, the processes that share a trace's memory: the one it was put into and, after forks, its
// descendants that did not exec.
class MemorySharers {
 public:
  MemorySharers() = default;
  // Of the memory behind `data_fd`, as mapped by `pid`, which lives. Made before anything can be forked that
  // has the memory, or children that hide are missed.
  MemorySharers(pid_t pid, const Fd& data_fd);

  Result<std::vector<pid_t>> find() const;
  bool shares(pid_t pid) const;

  // Those that most likely share it but do not let blip look: made undumpable, or another user's by now.
  // Nobody hides from root.
  Result<std::vector<pid_t>> find_hidden() const;
  bool hides(pid_t pid) const;

  // Whether it is certain that only the process has it.
  bool is_alone() const;

 private:
  using FileId = std::pair<uint64_t, uint64_t>;  // device, inode

  bool is_relative(pid_t pid, pid_t parent) const;

  FileId executable_;  // all of them have it: the others need no reading of their maps
  FileId memory_;
  pid_t pid_ = 0;
  std::string comm_;
  std::vector<pid_t> ancestors_;  // of pid_: its orphans become children of one of them
  uint64_t since_ = 0;            // clock ticks after boot: who started before cannot have the memory
};

}  // namespace blip::probe
