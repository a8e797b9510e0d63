// SPDX-License-Identifier: MIT
#pragma once

#include <csignal>
#include <iterator>

#include "cli/output/output.h"

namespace blip::cli {

// While it lives, SIGINT, SIGTERM, SIGHUP and SIGQUIT call `stop` (which must be safe in a signal handler)
// instead of ending blip, however often they come; SIGPIPE and SIGXFSZ are ignored. A SIGHUP that was ignored
// before (nohup) stays so. One at a time.
//
// With a command, given by `forward`, they are the command's business: those of the terminal go to it anyway,
// those that a program sends to blip are handed to `forward`, and blip goes on until the command ends. Only
// when `forward` says that it has ended already do they stop blip.
class StopSignals {
 public:
  explicit StopSignals(void (*stop)(), bool (*forward)(int) = nullptr);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // True once one of the signals came.
  static bool requested();
  // From now on nothing in a target waits for blip.
  static void tell_detached();
  // How long blip waits for whoever reads its output, once it has detached: for ever if it ended by itself, a
  // few seconds if it was told to end, and not at all when it is told once more.
  static Patience patience();

 private:
  static constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ};
  struct sigaction before_[std::size(kSignals)];
};

}  // namespace blip::cli
