// SPDX-License-Identifier: MIT
#include "proc/files/links.h"

#include <fmt/core.h>

#include "proc/files/proc_directory.h"

namespace blip::proc {

std::string executable_link(pid_t pid) { return proc_directory(pid) + "/exe"; }

std::string map_link(pid_t pid, AddrRange mapping) {
  return fmt::format("{}/map_files/{:x}-{:x}", proc_directory(pid), mapping.begin.value, mapping.end.value);
}

std::string root_link(pid_t pid) { return proc_directory(pid) + "/root"; }

}  // namespace blip::proc
