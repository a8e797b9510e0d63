// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

#include "proc/command.h"

namespace blip::proc {

// The way from a signal handler to a command that may not have been started yet.
class CommandSignals {
 public:
  // From now on signals go to this command, those that came before at once. It must outlive forget().
  void hold(const Command& command);
  void forget() { pidfd_ = -1; }

  // Safe in a signal handler. False if the command has ended. Signal 0 only asks.
  bool send(int signal);

 private:
  std::atomic<int> pidfd_{-1};
  std::atomic<uint64_t> waiting_{0};  // signal n is bit n - 1
};

}  // namespace blip::proc
