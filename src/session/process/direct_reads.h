// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <optional>
#include <span>
#include <string>

#include "probe/arm/range_feed.h"
#include "session/process/target_process.h"

namespace blip::session {

// Programs that follow pointers read directly where blip knows what is mapped, and else ask the kernel:
// docs/design/safe_reads.md. This keeps them told what is mapped.
class DirectReads {
 public:
  // The target is armed with pads. Both outlive it. The first look comes at once: who waits for a miss is slow
  // until then.
  DirectReads(const TargetProcess& target, std::span<const probe::Module> modules);

  // To be called often. Returns a value, once, when it has come to an end.
  std::optional<std::string> refresh();
  // Says how memory is read now.
  std::string text() const;

 private:
  const TargetProcess& target_;
  probe::RangeFeed feed_;
};

}  // namespace blip::session
