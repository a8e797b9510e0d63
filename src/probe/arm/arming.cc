// SPDX-License-Identifier: MIT
// The order of things, and why a blip killed between any two of them leaves a target that runs on:
//
//   stop one thread    map data, gate page, pads; their contents are nobody's yet
//   target runs        header, pads and site table are written through blip's own mappings
//   target runs        page tables of what the first hits need are filled, from outside
//   stop all threads   gate opened, PCs inside windows moved to their copies, then jumps written page by page
//   target runs        traced; no ptrace attachment exists. The rest of the rings gets its memory
#include "probe/arm/arming.h"

#include <fmt/core.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "probe/arm/installer.h"
#include "probe/arm/pad_building.h"
#include "probe/inject/leftovers.h"
#include "probe/inject/thread_facts.h"
#include "proc/files/cpu.h"

namespace blip::probe {

namespace {

constexpr uint32_t kSharedRingBesideOthers = 4 << 20;
constexpr uint32_t kEditsPerSpareProbe = 2;    // a site with a springboard
constexpr uint64_t kRegisterBarrier = 1 << 8;  // MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ
constexpr size_t kTscAnswer = offsetof(abi::DataHeader, region_size);

}  // namespace

Status Arming::run(ModuleSites sites) {
  TRY_OK(choose_clock());
  TRY_OK(plan(std::move(sites)));
  TRY_OK(map_memory());
  TraceMemory& memory = trace_.memory;
  TRY_OK(memory.allocate(trace_.batches.back()));
  TRY_OK(memory.fill_tables());
  TRY_OK(build());
  memory.pages().populate(memory.region(), memory.geometry(), trace_.target);
  TRY_OK(trace_.check_stop());
  TRY_OK(Installer(trace_, {}, [&] { return build(); }).run());
  memory.pages().fill_rings(memory.region(), memory.geometry(), trace_.target);
  give_up_programs(trace_);
  return {};
}

Status Arming::choose_clock() {
  TRY(const bool monotonic, trace_.facts.find_clock(trace_.process, trace_.target, trace_.modules));
  if (monotonic)
    trace_.report.notes.push_back(
        fmt::format("times come from CLOCK_MONOTONIC, by {}: all events use the shared ring",
                    trace_.facts.uses_vdso_clock() ? "the vDSO" : "a system call"));
  return {};
}

// What is put into the target, and how much room it needs.
Status Arming::plan(ModuleSites sites) {
  abi::Geometry geometry = trace_.memory.geometry();
  TRY(geometry.ring_count, proc::possible_cpus());
  trace_.calls.find_clones();
  geometry.probe_count = static_cast<uint32_t>(trace_.probes.count()) + trace_.probes.spare().count;
  trace_.traps.plan(trace_.modules, sites);
  geometry.ranges = trace_.calls.plan_ranges(geometry.ranges);
  trace_.memory.set_geometry(geometry);
  if (!geometry.ranges && !trace_.facts.forbids_calls()) trace_.calls.plan_filters();
  TRY_OK(trace_.check_stop());
  std::vector<x86::SyscallSite> watched;
  for (const auto& some : {trace_.calls.clones(), trace_.traps.action_sites(), trace_.calls.calls()})
    watched.insert(watched.end(), some.begin(), some.end());
  for (const Module& module : trace_.modules)
    module.release_pages();  // all code was looked at, for system calls
  Batch& batch = trace_.batches.emplace_back(trace_.modules, std::move(sites), trace_.probes.fresh(),
                                             std::move(watched), trace_.facts.environment());
  refuse_returns(batch, trace_.memory.kept());
  trace_.traps.refuse_planned(batch);
  geometry.site_count =
      static_cast<uint32_t>(batch.max_edits()) + kEditsPerSpareProbe * trace_.probes.spare().count;
  trace_.memory.set_geometry(geometry);
  return {};
}

Status Arming::map_memory() {
  PadFacts& facts = trace_.facts;
  WatchedCalls& calls = trace_.calls;
  const Batch& batch = trace_.batches.back();
  const pid_t ns_pid = trace_.process.ns_pid();
  const auto tid_hint = find_tid_hint(trace_.modules, trace_.target);
  const PrivateSizes sizes{.traps = trace_.traps.memory_size(batch),
                           .shadow = facts.shadow_size(),
                           .semaphores = facts.semaphore_size()};
  bool again = false;
  return trace_.stops.with_one([&](proc::Attachment& attachment, proc::RemoteCaller& caller,
                                   std::span<const proc::Map> maps) -> Status {
    // An attempt that signals broke off may not have been able to clean up after itself.
    if (std::exchange(again, true))
      TRY_OK(discard_unarmed(caller, trace_.process, trace_.target, trace_.memory.kept()));
    if (caller.restricted())
      return Error(ErrorKind::kUnsupported,
                   fmt::format("process {} runs under a seccomp filter: blip needs root to trace it",
                               trace_.process.pid()));
    facts.set_threads(find_thread_facts(attachment, trace_.target, ns_pid, tid_hint));
    if (calls.unseen_children()) facts.give_up_rseq();
    size_shared_ring();
    AlsoCalled asked;
    std::optional<size_t> tsc, barrier;
    asked.add = [&](proc::CallList& list, TargetAddr control) {
      if (facts.uses_tsc()) tsc = list.add(SYS_prctl, PR_GET_TSC, (control + kTscAnswer).value);
      if (facts.threads().rseq && calls.no_ranges().empty())
        barrier = list.add(SYS_membarrier, kRegisterBarrier, 0, 0);
    };
    TRY_OK(trace_.memory.map(caller, maps, batch, sizes, asked));
    trace_.stage.enter(ArmingStage::Stage::kMapped);
    restorer_.include(trace_.memory.sharers());
    if (!facts.threads().rseq)
      calls.note_no_sequences();
    else if (!barrier || !asked.made.result(*barrier))
      calls.note_no_barrier();
    return tsc && asked.made.result(*tsc) ? check_tsc() : Status();
  });
}

// All of its slots have to be written before the first hit. Where threads have rings of their own it takes
// only what cannot use those: what comes before libc has registered them, children of vfork, interrupted
// hits.
void Arming::size_shared_ring() {
  abi::Geometry geometry = trace_.memory.geometry();
  if (!trace_.facts.has_own_rings() || geometry.slot_size == 0) return;
  geometry.slot_count = std::min(geometry.slot_count, kSharedRingBesideOthers / geometry.slot_size);
  trace_.memory.set_geometry(geometry);
}

// Where the TSC is forbidden (PR_SET_TSC) reading it is a SIGSEGV. Threads inherit it, so that one is asked
// for all. The answer goes to memory that has no contents yet, but not over the magic number: who finds it
// without one knows that nothing is armed.
Status Arming::check_tsc() const {
  int state = PR_TSC_ENABLE;
  std::memcpy(&state, trace_.memory.here() + kTscAnswer, sizeof state);
  if (state != PR_TSC_SIGSEGV) return {};
  return Error(
      ErrorKind::kUnsupported,
      fmt::format("process {} may not read the CPU's cycle counter (PR_SET_TSC): an event or a measured call "
                  "would kill it. `blip count --function` works",
                  trace_.process.pid()));
}

// All that is in the memory before the first hit, as often as it takes.
Status Arming::build() {
  const jit::Environment env = trace_.facts.environment();
  TRY_OK(trace_.memory.write_header(env, trace_.facts.unannounced_gate()));
  TRY(MadePatches made, build_pads(trace_, trace_.batches.back(), trace_.modules));
  trace_.patches.replace(std::move(made.table));
  trace_.calls.note_unpatched(trace_.patches.table());
  trace_.stage.enter(ArmingStage::Stage::kBuilt);
  return {};
}

}  // namespace blip::probe
