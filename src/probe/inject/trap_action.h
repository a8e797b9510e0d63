// SPDX-License-Identifier: MIT
// The signal actions of a stopped target, for traps. See docs/design/traps.md.
#pragma once

#include <csignal>
#include <cstdint>

#include "abi/traps.h"
#include "base/addr.h"
#include "base/result.h"
#include "probe/inject/region.h"
#include "proc/files/memory.h"
#include "proc/remote_call.h"

namespace blip::probe {

constexpr uint64_t signal_bit(int signal) { return uint64_t{1} << (signal - 1); }

// Bytes of memory for so many traps.
uint64_t trap_memory_size(size_t traps);

// Returns the kernel's action for a signal; `table` is that of the target's traps, whose scratch is used.
Result<abi::SignalAction> remote_action(proc::RemoteCaller& caller, const proc::Memory& memory,
                                        TargetAddr table, int signal);
Status set_remote_action(proc::RemoteCaller& caller, proc::Memory& memory, TargetAddr table, int signal,
                         const abi::SignalAction& action);

// Gives the target the action for SIGTRAP that it has asked for, if blip's is still there.
Status restore_trap_action(proc::RemoteCaller& caller, proc::Memory& memory, const Footprint& footprint);

}  // namespace blip::probe
