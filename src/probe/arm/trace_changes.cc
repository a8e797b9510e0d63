// SPDX-License-Identifier: MIT
// New pads get room of their own, where nobody has been; the old ones are never rewritten, because threads may be in them.
#include "probe/arm/trace_changes.h"

#include <fmt/core.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "probe/arm/installer.h"
#include "probe/arm/pad_building.h"
#include "probe/inject/text.h"
#include "probe/inject/threads.h"
#include "proc/attachment.h"
#include "proc/pause.h"
#include "proc/remote_call.h"
#include "proc/tracer_thread.h"

namespace blip::probe {

Status TraceChanges::check_room(const TraceParts& trace, size_t probes) {
  const uint32_t room = trace.memory.geometry().probe_count;
  const size_t used = trace.probes.count();
  if (used + probes > room)
    return Error(ErrorKind::kUnsupported,
                 fmt::format("no more than {} probes were provided for in this trace: {} are used and {} "
                             "more are needed; give a larger --max-probes",
                             room, used, probes));
  return {};
}

Status TraceChanges::add(std::span<const proc::Map> mapped, std::span<const Module> modules,
                         ModuleSites sites, std::vector<Probe> probes) {
  TRY_OK(check_room(trace_, probes.size()));
  const size_t first = trace_.probes.count();
  trace_.probes.add(std::move(probes));
  if (!mapped.empty())
    for (const Module& module : modules) trace_.patches.add_library(module.extent());
  trace_.report.last_paused = {};
  auto status = proc::on_tracer_thread([&] { return add_batch(mapped, modules, std::move(sites)); });
  give_up_programs(trace_);
  if (status) return {};
  for (size_t i = first; i < trace_.probes.count(); ++i)
    trace_.report.refused.emplace_back(i, status.error().message());
  trace_.patches.note_all_written();  // not to be tried again, but to be restored
  return status;
}

Status TraceChanges::add_batch(std::span<const proc::Map> mapped, std::span<const Module> modules,
                               ModuleSites sites) {
  TraceMemory& memory = trace_.memory;
  Batch& batch = trace_.batches.emplace_back(modules, std::move(sites), trace_.probes.fresh(),
                                             std::vector<x86::SyscallSite>(), trace_.facts.environment());
  TRY_OK(memory.check_site_room(batch));
  TRY_OK(memory.allocate_more(batch, trace_.probes.classes()));
  for (size_t i = 0; i < batch.jobs().size(); ++i)
    if (trace_.patches.conflicts_with(batch.jobs()[i].site->rewrite))
      batch.refuse(i, "a probe in this trace has, or had, to do with the same bytes");
  refuse_returns(batch, memory.kept());
  TrapSupport::refuse_all(batch, "traps cannot be added to a trace that runs");
  if (!memory.place_pads(batch))
    TRY_OK(trace_.stops.with_one(
        [&](proc::Attachment&, proc::RemoteCaller& caller, std::span<const proc::Map> maps) {
          return memory.map_pads(caller, maps, batch);
        }));
  TRY(MadePatches made, build_pads(trace_, batch, modules));
  trace_.patches.add(std::move(made.table));
  return install(mapped);
}

// The pads that are there are never made again: threads were led into them long ago.
Status TraceChanges::install(std::span<const proc::Map> mapped) {
  return Installer(trace_, mapped,
                   []() -> Status { return Error(ErrorKind::kGone, "the trace was taken out"); })
      .run();
}

Status TraceChanges::remove(size_t probe) {
  trace_.memory.switch_probe(probe, false);
  trace_.probes.remove(probe);
  const PatchSet& patches = trace_.patches;
  const auto patch = patches.find_unneeded(probe, trace_.probes.removed());
  // The clone pad that its own pad goes on in is reached only through this site.
  if (!patch || trace_.calls.goes_on_in(patches.table().patches[*patch].job->site->rewrite)) return {};
  return proc::on_tracer_thread([&]() -> Status {
    for (int i = 0; i < kStopTries; ++i) {
      const auto done = proc::on_tracer_thread([&] { return restore(*patch); });
      if (!done && !proc::is_pause_exceeded(done.error())) return done.error();
      if (done && *done) {
        trace_.patches.retire(*patch);
        return {};
      }
      std::this_thread::sleep_for(kBetweenTries);
    }
    return {};  // it stays, switched off
  });
}

// False: not now, or not ours any more.
Result<bool> TraceChanges::restore(size_t patch) {
  const PatchTable& table = trace_.patches.table();
  const PatchIndex index(table);
  return trace_.stops.with_all([&](proc::Attachment& attachment) -> Result<bool> {
    if (trace_.target.mm_gone())
      return Error(ErrorKind::kGone, fmt::format("process {} called exec", trace_.process.pid()));
    TRY(const std::vector<proc::Map> maps, proc::read_maps(trace_.process.pid()));
    StoppedCode code(attachment, trace_.target, maps);
    TRY(const std::vector<TargetAddr> held, leave_springboards(code, index));
    if (std::find(held.begin(), held.end(), table.patches[patch].springboard) != held.end()) return false;
    TRY(const TextReport text, restore_text(trace_.target, table.edits, trace_.patches.edits_of(patch)));
    return text.foreign.empty();
  });
}

Status TraceChanges::revive(AddrRange library, const void* file, std::span<const proc::Map> mapped) {
  if (!trace_.patches.revive(library, file)) return {};
  trace_.semaphores.revive(library, file);
  trace_.report.last_paused = {};
  Status status = proc::on_tracer_thread([&] { return install(mapped); });
  trace_.patches.note_all_written();
  return status;
}

}  // namespace blip::probe
