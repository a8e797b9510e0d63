// SPDX-License-Identifier: MIT
// Says whether pads may make system calls. A seccomp filter that comes after blip, or the dispatch of system
// calls to user space, may end a thread for one that the program itself never makes; so what the program
// installs one by is led through a pad (jit/unmap_pad.h), which forbids them first. Freestanding: runs inside
// the target.
//
//   a pad                               who installs a filter
//   calls += 1           locked         no_syscalls = 1
//   no_syscalls?  then none             wait until calls == 0
//   the system call                     the filter
//   calls -= 1
#pragma once

#include "abi/layout.h"
#include "machine/instructions.h"

namespace blip::ring {

// Values of DataHeader::filtered. A process of the trace has come under a seccomp filter, which children
// inherit: no calls at all.
inline constexpr uint32_t kFiltered = 1;
// No program asks the kernel, so nobody watches for filters: a child may ask for its pid, once.
inline constexpr uint32_t kCallsUnwanted = 2;

// getpid, gettid: no arguments, no errors.
inline int32_t system_id(long number) { return static_cast<int32_t>(machine::system_call_0(number)); }

// A fork's child that nobody announced finds its page wiped: what was forbidden is not written there, but a
// filter is inherited.
inline bool inherits_filter(const abi::GatePage* page) {
  const auto* control = reinterpret_cast<const uint8_t*>(page) + abi::kGatePageSize;
  const auto* header = reinterpret_cast<const abi::DataHeader*>(control);
  return __atomic_load_n(&page->gate, __ATOMIC_RELAXED) == abi::kGateClosed &&
         __atomic_load_n(&header->filtered, __ATOMIC_SEQ_CST) == kFiltered;
}

// False: the call must not be made. True: end_own_call() follows it.
inline bool begin_own_call(abi::GatePage* page) {
  __atomic_fetch_add(&page->calls, 1, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&page->no_syscalls, __ATOMIC_SEQ_CST) == 0 && !inherits_filter(page)) return true;
  __atomic_fetch_sub(&page->calls, 1, __ATOMIC_SEQ_CST);
  return false;
}

inline void end_own_call(abi::GatePage* page) { __atomic_fetch_sub(&page->calls, 1, __ATOMIC_SEQ_CST); }

// From now on no pad of this process makes a system call, and none of a child that it forks. Waits for those
// under way, but not for ever: a signal handler may have jumped out of one. For a child that shares its
// parent's memory all is the parent's.
inline void forbid_own_calls(uint8_t* control) {
  constexpr int kSlices = 500;
  auto* page = reinterpret_cast<abi::GatePage*>(control - abi::kGatePageSize);
  auto* header = reinterpret_cast<abi::DataHeader*>(control);
  if (__atomic_exchange_n(&page->no_syscalls, 1, __ATOMIC_SEQ_CST) != 0) return;  // maybe a filter is there
  __atomic_store_n(&header->filtered, kFiltered, __ATOMIC_SEQ_CST);
  for (int i = 0; i < kSlices && __atomic_load_n(&page->calls, __ATOMIC_SEQ_CST) != 0; ++i) {
    const struct { int64_t seconds, nanoseconds; } millisecond = {0, 1'000'000};
    machine::system_call_2(machine::kSysNanosleep, reinterpret_cast<long>(&millisecond), 0);
  }
}

}  // namespace blip::ring
