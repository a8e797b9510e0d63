// SPDX-License-Identifier: MIT
#include "proc/files/time_namespace.h"

#include <sys/stat.h>

#include <cerrno>

#include "proc/files/proc_directory.h"

namespace blip::proc {

bool shares_time_namespace(pid_t pid) {
  struct stat own, theirs;
  if (::stat("/proc/self/ns/time", &own) != 0) return errno == ENOENT;  // kernels without them
  return ::stat((proc_directory(pid) + "/ns/time").c_str(), &theirs) == 0 && own.st_dev == theirs.st_dev &&
         own.st_ino == theirs.st_ino;
}

}  // namespace blip::proc
