// SPDX-License-Identifier: MIT
#pragma once

#include <signal.h>

#include <cstdint>

namespace blip::proc {

// The state of a process's signals that exec keeps: the mask, and which ones are ignored (handlers become the
// default).
struct SignalState {
  sigset_t blocked{};
  uint64_t ignored = 0;  // signal n is bit n - 1

  static SignalState current();
  // The state with which blip itself was started, whatever it has changed since.
  static const SignalState& inherited();

  // Makes it the calling thread's mask and the process's dispositions, the mask last: what was pending is
  // delivered then. Safe between fork and exec.
  void apply() const;
};

}  // namespace blip::proc
