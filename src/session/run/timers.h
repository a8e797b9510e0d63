// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace blip::session {

// Timers in the order of time. A timer that is not asked for so long that it would fire very often in a row, because blip did not
// run, leaves most of these out and counts them.
class Timers {
 public:
  // `which` is the caller's. First due one period after start().
  void add(size_t which, std::chrono::nanoseconds period);
  void start(uint64_t now_ns);

  struct Due {
    size_t which;
    uint64_t time_ns;
  };
  // The first that is due; of those due at one time, the one added first. nullopt: there is none, or they have not started.
  std::optional<Due> next() const;
  // It is done with, `now_ns` is the time.
  void pass(uint64_t now_ns);

  uint64_t left_out() const { return left_out_; }

 private:
  struct Timer {
    size_t which;
    uint64_t period_ns;
    uint64_t due_ns = 0;
  };

  std::vector<Timer> all_;
  std::optional<size_t> next_;
  uint64_t left_out_ = 0;

  void find_next();
};

}  // namespace blip::session
