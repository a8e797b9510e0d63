// SPDX-License-Identifier: MIT
// All that the SIGTRAP handler in a target knows: one table per process, in private memory that a fork
// copies: the child's actions are its own.
#pragma once

#include <cstddef>
#include <cstdint>

namespace blip::abi {

// As the kernel takes and gives it: struct kernel_sigaction of rt_sigaction(2).
struct SignalAction {
  uint64_t handler;
  uint64_t flags;
  uint64_t restorer;
  uint64_t mask;
};
static_assert(sizeof(SignalAction) == 32);

// A byte of text that was replaced by int3.
struct TrapEntry {
  uint64_t addr;
  uint64_t pad_addr;
};

// Actions are never changed in place, for a handler may be reading: a new one goes to another slot, then
// `current` names it.
inline constexpr uint32_t kActionSlots = 64;
inline constexpr uint32_t kDefaultAction = 0;  // the slot of SIG_DFL, never another

struct TrapTable {
  uint32_t current;       // slot of what the target has asked for SIGTRAP
  uint32_t next;          // how often it asked
  uint64_t pid_addr;      // of GatePage::pid
  uint64_t entries_addr;  // of TrapEntry[entry_count], sorted by addr
  uint64_t entry_count;
  SignalAction own;  // blip's handler, as it was installed
  SignalAction actions[kActionSlots];
};
static_assert(offsetof(TrapTable, actions) == 64);
inline constexpr uint32_t kFirstAction = kDefaultAction + 1;  // the slot of what blip found

// Behind the table: room for one action that somebody asks the kernel for, then the entries.
inline constexpr uint64_t kTrapScratch = sizeof(TrapTable);
inline constexpr uint64_t kTrapEntries = kTrapScratch + sizeof(SignalAction);

}  // namespace blip::abi
