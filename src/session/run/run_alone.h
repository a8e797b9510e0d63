// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "base/stop.h"
#include "session/run/engine.h"

namespace blip::session {

// Runs a script without any target: begin, timers, end. It ends with the script, after the duration, or when `stop`
// was requested; `end_of_round` is called at least every 100 ms.
void run_alone(Engine& engine, std::optional<std::chrono::nanoseconds> duration, const StopRequest& stop,
               const std::function<void()>& end_of_round);

}  // namespace blip::session
