// SPDX-License-Identifier: MIT
#include "probe/arm/pad_facts.h"

#include <algorithm>

#include "abi/semaphores.h"
#include "abi/shadow.h"
#include "probe/inject/target_clock.h"
#include "ring/system_calls.h"

namespace blip::probe {

Result<bool> PadFacts::find_clock(const proc::Process& process, proc::Memory& memory,
                                  std::span<const Module> modules) {
  if (!options_.monotonic_clock) return false;
  TRY(clock_, find_monotonic_clock(process, memory, modules));
  return true;
}

uint64_t PadFacts::shadow_size() const {
  if (!options_.returns) return 0;
  return abi::kShadowSize + (options_.keeps_values ? abi::kKeptSize : 0);
}

uint32_t PadFacts::semaphore_size() const {
  if (!options_.marks) return 0;
  const uint64_t size = (probes_.count() + probes_.spare().count) * sizeof(abi::SemaphoreEntry);
  return static_cast<uint32_t>(
      abi::Geometry::align_up(std::min(size, abi::kMaxSemaphoreBytes), abi::kPageSize));
}

jit::Environment PadFacts::environment() const {
  const TargetRegion& region = memory_.region();
  jit::ProcessEnvironment process{
      .geometry = memory_.geometry(),
      .control = region.control,
      .rseq = threads_.rseq,
      .tid_offset = threads_.tid_offset,
      .asks_kernel = asks_kernel(),
      .collects = probes_.collect(),
      .no_syscalls = !calls_.no_calls().empty(),
      .follow_fork = options_.follow_fork,
      .monotonic = clock_,
      .births = options_.births,
      .recorded = probes_.recorded(),
      .trap_size = region.trap_size,
      .unwind = region.has_tables ? region.tables()->areas.front().range.begin : TargetAddr(),
      .shadow_size = region.shadow_size};
  return {.process = std::move(process),
          .channels = {{.geometry = memory_.geometry(), .control = region.control}}};
}

// Not kGateOpen: whether restartable sequences are registered where the child looks for them is not known. It
// must ask for its pid, unless it only counts.
uint32_t PadFacts::unannounced_gate() const {
  if (!options_.follow_fork) return abi::kGateIgnored;
  if (!calls_.no_calls().empty() && memory_.geometry().slot_size != 0) return abi::kGateClosed;
  return abi::kGateOpen | abi::kGateChild;
}

abi::GatePage PadFacts::gate_page(uint32_t gate, pid_t pid) const {
  return {.gate = gate,
          .pid = pid,
          .tid_offset = threads_.tid_offset.value_or(abi::kNoTidOffset),
          .no_syscalls = forbids_calls(),
          .calls = 0,
          .own_ranges = calls_.no_ranges().empty() && !forbids_calls()};
}

uint32_t PadFacts::filtered() const {
  return !calls_.no_calls().empty() ? ring::kFiltered : asks_kernel() ? 0 : ring::kCallsUnwanted;
}

}  // namespace blip::probe
