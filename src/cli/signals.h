// SPDX-License-Identifier: MIT
#pragma once

#include <csignal>
#include <iterator>

#include "cli/output/output.h"

namespace blip::cli {

// While it lives, SIGINT, SIGTERM, SIGHUP and SIGQUIT are told to a listener instead of ending blip, however often they
// come; SIGPIPE and SIGXFSZ are ignored. A SIGHUP that was ignored before (nohup) stays so. One at a time: what signals
// do is a matter of the whole program.
class StopSignals {
 public:
  // Both functions are called in signal handlers.
  class Listener {
   public:
    virtual void stop() = 0;
    // With a command, signals are the command's business: those of the terminal go to it anyway (`signal` is 0), those
    // that a program sends to blip are to be handed to it, and blip goes on until the command ends. False: there is no
    // command, or it has ended; then stop() is called.
    virtual bool forward(int signal) {
      (void)signal;
      return false;
    }

   protected:
    ~Listener() = default;
  };

  explicit StopSignals(Listener& listener);
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
