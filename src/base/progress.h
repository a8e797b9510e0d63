// SPDX-License-Identifier: MIT
// Reports what blip is doing, for a user who wonders why it takes so long. Layers below the command line
// report; only the command line decides whether, when and how to show it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace blip::progress {

using Clock = std::chrono::steady_clock;

// "reading the symbols of libfoo.so": as in "blip: still reading the symbols of libfoo.so". For pieces of
// work that may take long; a step costs a lock and a string. May be used by any thread; steps nest.
class Step {
 public:
  explicit Step(std::string doing);
  ~Step();
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

 private:
  uint64_t id_;
};

struct Current {
  std::string doing;        // the innermost step
  Clock::time_point since;  // begin of the outermost one: many short steps are one long wait
};

// The steps under way. Step uses the one of the process.
class Board {
 public:
  static Board& of_process();

  uint64_t begin(std::string doing, Clock::time_point now);
  void end(uint64_t id);
  std::optional<Current> current() const;

  // For the one who shows them. Sleeps until there is a step, or wake() was called.
  void wait_for_step();
  // Sleeps until then, or wake() was called.
  void wait_until(Clock::time_point until);
  // Ends one wait: the one under way, or the next.
  void wake();

 private:
  struct Entry {
    uint64_t id;
    std::string doing;
    Clock::time_point since;
  };

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Entry> entries_;  // in the order of their begin
  uint64_t last_id_ = 0;
  bool awake_ = false;
};

}  // namespace blip::progress
