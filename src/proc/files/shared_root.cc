// SPDX-License-Identifier: MIT
#include "proc/files/shared_root.h"

#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "proc/files/proc_directory.h"

namespace blip::proc {

namespace {

std::string link_of(const std::string& path) {
  std::error_code error;
  return std::filesystem::read_symlink(path, error).string();
}

}  // namespace

bool shares_root(pid_t pid) {
  struct stat theirs, ours;
  const std::string directory = proc_directory(pid);
  if (::stat((directory + "/root").c_str(), &theirs) != 0 || ::stat("/", &ours) != 0) return false;
  const std::string mounts = link_of(directory + "/ns/mnt");
  return theirs.st_ino == ours.st_ino && theirs.st_dev == ours.st_dev && !mounts.empty() &&
         mounts == link_of("/proc/self/ns/mnt");
}

}  // namespace blip::proc
