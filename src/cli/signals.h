// SPDX-License-Identifier: MIT
#pragma once

#include <csignal>
#include <iterator>

namespace blip::cli {

// While it lives, SIGINT, SIGTERM, SIGHUP and SIGQUIT call `stop` (which must be safe in a signal handler)
// instead of ending blip, however often they come; SIGPIPE and SIGXFSZ are ignored. A SIGHUP that was ignored
// before (nohup) stays so. One at a time.
class StopSignals {
 public:
  explicit StopSignals(void (*stop)());
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // True once one of the signals came.
  static bool requested();

 private:
  static constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ};
  struct sigaction before_[std::size(kSignals)];
};

}  // namespace blip::cli
