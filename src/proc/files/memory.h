// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <type_traits>

#include "base/addr.h"
#include "base/fd.h"
#include "base/result.h"

namespace blip::proc {

struct ReadRequest {
  TargetAddr addr;
  std::span<uint8_t> into;
};

// The address space a process had when this was opened. After exec or the end of the process every access
// fails with kGone: nothing is ever read from or written to a later program.
class Memory {
 public:
  static Result<Memory> open(pid_t pid);
  // write() goes through the fallback thread only.
  static Result<Memory> open_read_only(pid_t pid);

  pid_t pid() const { return pid_; }

  // All bytes or an error.
  Status read(TargetAddr addr, std::span<uint8_t> into) const;
  // Writes also where the target itself may not (text). A write inside one page is seen whole by stopped
  // threads. Fails without a partial write if the first page is not there.
  Status write(TargetAddr addr, std::span<const uint8_t> bytes);

  template <typename T>
  Result<T> read_value(TargetAddr addr) const {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    TRY_OK(read(addr, {reinterpret_cast<uint8_t*>(&value), sizeof value}));
    return value;
  }

  // Many pieces in few system calls (process_vm_readv); the same result as read() for each.
  Status read_all(std::span<const ReadRequest> requests) const;

  // True once the address space has been given up by exec or exit.
  bool mm_gone() const;

  // A thread stopped by the caller; where the kernel forbids forced writes through /proc
  // (proc_mem.force_override), write() goes through it instead. 0: no fallback.
  void set_fallback_tid(pid_t tid) { fallback_tid_ = tid; }

 private:
  Memory(pid_t pid, Fd fd) : pid_(pid), fd_(std::move(fd)) {}

  pid_t pid_;
  Fd fd_;
  pid_t fallback_tid_ = 0;
};

}  // namespace blip::proc
