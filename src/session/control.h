// SPDX-License-Identifier: MIT
#pragma once

#include "base/stop.h"
#include "proc/command_signals.h"

namespace blip::session {

// The requests that one session takes at any time, from other threads and from signal handlers too. It is made before
// the session, so that it may be asked while the session starts, and outlives it.
class Control {
 public:
  // Session::run() comes to a normal end; Session::start() does, or fails.
  void request_stop() { stop_.request(); }
  bool stop_requested() const { return stop_.requested(); }
  // Nothing is left behind if the program ends here and now. To be asked after request_stop().
  bool may_end_at_once() const { return stop_.may_end_at_once(); }
  // Sends the signal to the command or, if it has not been started yet, as soon as it is. False if it has ended.
  // Signal 0 only asks.
  bool forward_to_command(int signal) { return command_.send(signal); }

  // For the session.
  StopRequest& stop() { return stop_; }
  proc::CommandSignals& command() { return command_; }

 private:
  StopRequest stop_;
  proc::CommandSignals command_;
};

}  // namespace blip::session
