// SPDX-License-Identifier: MIT
// Copies of the target's own memory by process_vm_readv, which says what is not there instead of sending a
// signal. Between begin_own_call() and end_own_call() only. Freestanding: runs inside the target.
#pragma once

#include "machine/instructions.h"
#include "ring/system_calls.h"

namespace blip::ring {

// The calling thread as the kernel names it, and by it the process: the one that the process is named after
// may have ended. The thread pointer is believed only in the process that blip looked at: a child may have
// been made in ways that leave its parent's tid there.
[[gnu::always_inline]] inline long own_tid(const abi::GatePage* page) {
  int32_t tid = 0;
  if (__atomic_load_n(&page->own_ranges, __ATOMIC_RELAXED) == 1 &&
      __atomic_load_n(&page->gate, __ATOMIC_RELAXED) == abi::kGateOpen &&
      page->tid_offset != abi::kNoTidOffset)
    tid = machine::thread_word(page->tid_offset);
  return tid > 0 ? tid : system_id(machine::kSysGettid);
}

// How many bytes of it are there, or an error.
[[gnu::always_inline]] inline long read_own_memory(long tid, void* to, uint64_t address, uint64_t size) {
  struct Piece {
    uint64_t address, size;
  };
  const Piece pieces[] = {{reinterpret_cast<uint64_t>(to), size}, {address, size}};
  return machine::system_call(machine::kSysProcessVmReadv, tid, reinterpret_cast<long>(&pieces[0]), 1,
                              reinterpret_cast<long>(&pieces[1]), 1, 0);
}

// False: not all of it is there.
[[gnu::always_inline]] inline bool copy_own_memory(long tid, void* to, uint64_t address, uint64_t size) {
  return read_own_memory(tid, to, address, size) == static_cast<long>(size);
}

}  // namespace blip::ring
