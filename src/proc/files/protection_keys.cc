// SPDX-License-Identifier: MIT
#include "proc/files/protection_keys.h"

#include <cpuid.h>
#include <fmt/core.h>

#include <fstream>
#include <string>

namespace blip::proc {

namespace {

bool kernel_has_keys() {
  constexpr unsigned kOspke = 1 << 4;  // CPUID leaf 7, ECX
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (c & kOspke) != 0;
}

}  // namespace

bool uses_protection_keys(pid_t pid) {
  constexpr char kKey[] = "ProtectionKey:";
  if (!kernel_has_keys()) return false;
  std::ifstream maps(fmt::format("/proc/{}/smaps", pid));
  bool any = false;
  for (std::string line; std::getline(maps, line); any = true)
    if (line.starts_with(kKey) && line.find_first_not_of(" 0", sizeof kKey - 1) != std::string::npos)
      return true;
  return !any;
}

}  // namespace blip::proc
