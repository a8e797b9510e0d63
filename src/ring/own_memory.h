// SPDX-License-Identifier: MIT
// Copies of the target's own memory by process_vm_readv, which says what is not there instead of sending a
// signal. Between begin_own_call() and end_own_call() only. Freestanding: runs inside the target.
#pragma once

#include "ring/system_calls.h"

namespace blip::ring {

// The process as the kernel names it; a child that shares the page with its parent asks.
[[gnu::always_inline]] inline long own_pid(const abi::GatePage* page) {
  constexpr long kGetpid = 39;
  const bool known = __atomic_load_n(&page->gate, __ATOMIC_RELAXED) == abi::kGateOpen;
  return known && page->pid != 0 ? page->pid : system_id(kGetpid);
}

// False: not all of it is there.
[[gnu::always_inline]] inline bool copy_own_memory(long pid, void* to, uint64_t address, uint64_t size) {
  constexpr long kProcessVmReadv = 310;
  struct Piece {
    uint64_t address, size;
  };
  const Piece pieces[] = {{reinterpret_cast<uint64_t>(to), size}, {address, size}};
  const long got = system_call(kProcessVmReadv, pid, reinterpret_cast<long>(&pieces[0]), 1,
                               reinterpret_cast<long>(&pieces[1]), 1, 0);
  return got == static_cast<long>(size);
}

}  // namespace blip::ring
