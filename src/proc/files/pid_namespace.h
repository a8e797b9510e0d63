// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include "base/result.h"

namespace blip::proc {

// The file that stands for a pid namespace.
struct PidNamespace {
  dev_t device;
  ino_t inode;
};

Result<PidNamespace> pid_namespace_of(pid_t pid);
// blip's own.
Result<PidNamespace> pid_namespace();

}  // namespace blip::proc
