// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <thread>

namespace blip {

// A thread that no signal is handled in. Not joinable where a limit does not allow one more.
std::thread start_quiet_thread(std::function<void()> body);

}  // namespace blip
