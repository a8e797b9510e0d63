// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <compare>
#include <map>
#include <span>
#include <vector>

#include "base/event_loop.h"

namespace blip::session {

// What ends a sleep of the loop early. Processes come and go, so the wanted descriptors are given before each sleep; the
// kernel is asked only where they differ from those before.
class WakeUps {
 public:
  struct Waker {
    pid_t owner;  // tells two descriptors apart that have had the same number one after the other
    int fd;       // readable when there is something to do; negative: never
    auto operator<=>(const Waker&) const = default;
  };

  // `loop` outlives it.
  explicit WakeUps(EventLoop& loop) : loop_(loop) {}

  // These and no others. One that the kernel refuses to watch is noticed when the sleep ends by itself.
  void watch(std::span<const Waker> wanted);
  size_t count() const { return watches_.size(); }

 private:
  EventLoop& loop_;
  std::vector<Waker> wanted_;  // in the order in which they were given: mostly the same one
  std::map<Waker, EventLoop::Watch> watches_;
};

}  // namespace blip::session
