// SPDX-License-Identifier: MIT
// The part that trace, record and count have in common: start a session, tell what was armed, run it, tell
// how it ended.
#pragma once

#include <functional>

#include "cli/options/options.h"
#include "session/run/engine.h"
#include "session/session.h"

namespace blip::cli {

struct TracingHooks {
  session::ShowEvent sink;                              // may be empty
  std::function<bool()> is_full;                        // see session::Hooks; may be empty
  std::function<void()> end_of_round;                   // after each drain; may be empty
  std::function<bool()> is_done;                        // after that; true: nobody wants more; may be empty
  std::function<void()> detached;                       // from now on output may wait; may be empty
  std::function<bool(const session::Summary&)> at_end;  // before the closing line; false: output failed
  std::function<void(const session::Summary&)> behind;  // behind it, unless quiet; may be empty
  session::Engine* engine = nullptr;                    // of a script
  std::function<void(session::Session&)> started;       // may be empty
  std::function<int()> own_code;                        // where nothing failed; empty: 0
};

// Returns the exit code. Signals and a closed stdout lead to a normal end.
int run_tracing(const Command& command, const TracingHooks& hooks);

}  // namespace blip::cli
