// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <mutex>
#include <optional>

#include "base/check.h"
#include "base/result.h"
#include "probe/inject/sharers.h"
#include "proc/files/process.h"

namespace blip::probe {

// While one lives, a failed CHECK takes what this blip has put into a process out of it again, and out of the children that
// share its memory: the text is restored, the memory goes if nobody is inside. Like `blip clean` it believes only what it
// finds in the processes.
class TargetRestorer {
 public:
  explicit TargetRestorer(const proc::Process& process);

  // From now on the children count, too.
  void include(const MemorySharers& sharers);

 private:
  Status restore();

  const pid_t pid_;
  const uint64_t start_time_;
  std::mutex mutex_;
  std::optional<MemorySharers> sharers_;
  FailureRestorer on_failure_;  // uses all of the above
};

}  // namespace blip::probe
