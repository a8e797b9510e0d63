// SPDX-License-Identifier: MIT
#pragma once

#include <sys/stat.h>

#include <string>

namespace blip {

// Two paths lead to one file now, or are equal: a file may be replaced while a process has it mapped.
inline bool is_same_file(const std::string& one, const std::string& other) {
  struct stat a, b;
  if (one == other) return true;
  return ::stat(one.c_str(), &a) == 0 && ::stat(other.c_str(), &b) == 0 && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino;
}

}  // namespace blip
