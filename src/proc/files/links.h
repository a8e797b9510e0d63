// SPDX-License-Identifier: MIT
// The kernel's links to the files of a process, to be opened or given to stat(2). A path may lead nowhere, or to what blip may
// not look at.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/addr.h"

namespace blip::proc {

// The program that the process runs.
std::string executable_link(pid_t pid);
// The very file behind a mapping, also if it was deleted or replaced. Needs a capability.
std::string map_link(pid_t pid, AddrRange mapping);
// The folder that the process calls "/".
std::string root_link(pid_t pid);

}  // namespace blip::proc
