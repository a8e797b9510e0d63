// SPDX-License-Identifier: MIT
#pragma once

#include <sys/mman.h>

#include <functional>

#include "proc/attachment.h"
#include "proc/remote_call.h"
#include "proc/target_memory.h"

namespace blip::proc::test {

// Stops the process, hands a caller to the work, puts everything back.
inline Status with_caller(pid_t pid, const std::function<Status(RemoteCaller&)>& work) {
  TRY(const Process process, Process::open(pid));
  TRY(Memory memory, Memory::open(pid));
  TRY(const auto maps, read_maps(pid));
  TRY(StubSite site, find_stub_site(memory, maps));
  TRY(Attachment attachment, Attachment::stop_all(process));
  TRY(RemoteCaller caller, RemoteCaller::create(attachment, memory, std::move(site)));
  return work(caller);
}

inline Status map_and_unmap(RemoteCaller& caller) {
  TRY(const TargetAddr addr, remote_mmap(caller, TargetAddr(0), 3 * kPageSize, PROT_READ | PROT_WRITE,
                                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  return remote_munmap(caller, addr, 3 * kPageSize);
}

}  // namespace blip::proc::test
