// SPDX-License-Identifier: MIT
#include "proc/files/protection_keys.h"

#include <fmt/core.h>

#include <fstream>
#include <string>

#include "machine/features.h"

namespace blip::proc {

bool uses_protection_keys(pid_t pid) {
  constexpr char kKey[] = "ProtectionKey:";
  if (!machine::has_protection_keys()) return false;
  std::ifstream maps(fmt::format("/proc/{}/smaps", pid));
  bool any = false;
  for (std::string line; std::getline(maps, line); any = true)
    if (line.starts_with(kKey) && line.find_first_not_of(" 0", sizeof kKey - 1) != std::string::npos)
      return true;
  return !any;
}

}  // namespace blip::proc
