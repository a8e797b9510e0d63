// SPDX-License-Identifier: MIT
#include "probe/inject/trap_action.h"

#include <sys/syscall.h>

#include <span>

#include "base/bytes_of.h"

namespace blip::probe {

namespace {

constexpr uint64_t kSignalSetSize = 8;

}  // namespace

uint64_t trap_memory_size(size_t traps) {
  return abi::Geometry::align_up(abi::kTrapEntries + traps * sizeof(abi::TrapEntry), abi::kPageSize);
}

Result<abi::SignalAction> remote_action(proc::RemoteCaller& caller, const proc::Memory& memory,
                                        TargetAddr table, int signal) {
  const TargetAddr scratch = table + abi::kTrapScratch;
  TRY_OK(caller.call(SYS_rt_sigaction, signal, 0, scratch.value, kSignalSetSize));
  return memory.read_value<abi::SignalAction>(scratch);
}

Status set_remote_action(proc::RemoteCaller& caller, proc::Memory& memory, TargetAddr table, int signal,
                         const abi::SignalAction& action) {
  const TargetAddr scratch = table + abi::kTrapScratch;
  TRY_OK(memory.write(scratch, bytes_of(action)));
  TRY_OK(caller.call(SYS_rt_sigaction, signal, scratch.value, 0, kSignalSetSize));
  return {};
}

// The table is the target's word, the pads are not.
Status restore_trap_action(proc::RemoteCaller& caller, proc::Memory& memory, const Footprint& footprint) {
  if (footprint.trap_size == 0) return {};
  const TargetAddr at = footprint.trap_table();
  TRY(const abi::SignalAction now, remote_action(caller, memory, at, SIGTRAP));
  if (!footprint.in_pads(TargetAddr(now.handler))) return {};
  TRY(const auto table, memory.read_value<abi::TrapTable>(at));
  return set_remote_action(caller, memory, at, SIGTRAP, table.actions[table.current % abi::kActionSlots]);
}

}  // namespace blip::probe
