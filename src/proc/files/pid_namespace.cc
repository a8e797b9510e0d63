// SPDX-License-Identifier: MIT
#include "proc/files/pid_namespace.h"

#include <sys/stat.h>

#include <cerrno>
#include <string>

#include "proc/files/proc_directory.h"

namespace blip::proc {

namespace {

Result<PidNamespace> in_directory(const std::string& directory) {
  struct stat facts;
  if (::stat((directory + "/ns/pid").c_str(), &facts) != 0)
    return Error::from_errno(errno, "the process's pid namespace");
  return PidNamespace{facts.st_dev, facts.st_ino};
}

}  // namespace

Result<PidNamespace> pid_namespace_of(pid_t pid) { return in_directory(proc_directory(pid)); }

Result<PidNamespace> pid_namespace() { return in_directory("/proc/self"); }

}  // namespace blip::proc
