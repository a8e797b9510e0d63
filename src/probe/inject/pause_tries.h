// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

namespace blip::probe {

// Stops that were given up for --max-pause: how often, and how soon, another one is worth a try. What keeps
// threads from stopping on a busy machine is over some milliseconds later, or comes again.
class PauseTries {
 public:
  // Waits; false: it has been tried often enough.
  bool again() {
    if (++tries_ >= kMost) return false;
    std::this_thread::sleep_for(wait_);
    wait_ = std::min(2 * wait_, kLongestWait);
    return true;
  }
  // Something was done in the stop: the rest has all its tries.
  void got_on() { *this = {}; }
  int tries() const { return tries_; }

 private:
  static constexpr int kMost = 60;
  static constexpr std::chrono::milliseconds kLongestWait{50};
  int tries_ = 0;
  std::chrono::milliseconds wait_{1};
};

// As the option takes it.
inline std::string pause_text(std::chrono::nanoseconds pause) {
  return fmt::format("{}ms", std::chrono::duration<double, std::milli>(pause).count());
}

}  // namespace blip::probe
