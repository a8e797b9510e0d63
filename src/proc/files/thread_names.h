// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <string>

namespace blip::proc {

// The name of a thread (at most 15 bytes, any but NUL); empty when it has ended.
std::string read_comm(pid_t pid, pid_t tid);

}  // namespace blip::proc
