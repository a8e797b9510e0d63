// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "base/fd.h"

namespace blip::probe {

// Finds, by /proc, the processes that share a trace's memory: the one it was put into and, after forks, its
// descendants that did not exec. Those of other users are seen only by root.
class MemorySharers {
 public:
  MemorySharers() = default;
  // Of the memory behind `data_fd`, as mapped by `pid`, which lives.
  MemorySharers(pid_t pid, const Fd& data_fd);

  std::vector<pid_t> find() const;
  bool shares(pid_t pid) const;

 private:
  using FileId = std::pair<uint64_t, uint64_t>;  // device, inode

  FileId executable_;  // all of them have it: the others need no reading of their maps
  FileId memory_;
};

}  // namespace blip::probe
