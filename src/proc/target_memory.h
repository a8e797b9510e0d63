// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/addr.h"
#include "base/fd.h"
#include "base/result.h"
#include "proc/remote_call.h"

namespace blip::proc {

// System calls that give and take the target's memory, run in the target. Names, flags and errors as in
// section 2 of the manual; descriptors are the target's.
Result<int> remote_memfd_create(RemoteCaller& caller, const std::string& name, unsigned flags);
Status remote_ftruncate(RemoteCaller& caller, int fd, uint64_t size);
Status remote_close(RemoteCaller& caller, int fd);
// With MAP_FIXED_NOREPLACE the result is `addr` or an error (kernels that ignore the flag included).
Result<TargetAddr> remote_mmap(RemoteCaller& caller, TargetAddr addr, uint64_t size, int prot, int flags,
                               int fd, uint64_t offset);
Status remote_munmap(RemoteCaller& caller, TargetAddr addr, uint64_t size);
Status remote_madvise(RemoteCaller& caller, TargetAddr addr, uint64_t size, int advice);

// The target's descriptors whose /proc link reads `link`, "/memfd:NAME (deleted)" for a memfd.
Result<std::vector<int>> find_target_fds(pid_t pid, const std::string& link);

// Opens the file behind a descriptor of the target for reading and writing in this process.
Result<Fd> open_target_fd(pid_t pid, int fd);

}  // namespace blip::proc
