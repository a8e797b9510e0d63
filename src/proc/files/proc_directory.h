// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <string>

namespace blip::proc {

// The directory of /proc that shows what a process has: its own or, if its first thread has ended, which
// shows neither files nor memory any more, that of another thread.
std::string proc_directory(pid_t pid);

}  // namespace blip::proc
