// SPDX-License-Identifier: MIT
// Putting probes into a target that is being traced, and taking single ones out.
//
// What is armed goes on meanwhile. New pads come in a memfd of their own; the old ones are never rewritten,
// because threads may be in them. For the same reason a place that was once probed may be probed again only
// in the same way: a thread still in the old pad comes back behind the old window, which must not be the
// middle of a new one.
#include <fmt/core.h>

#include <algorithm>
#include <thread>

#include "probe/arm/instrumentation.h"
#include "probe/inject/text.h"
#include "probe/inject/threads.h"
#include "proc/attachment.h"
#include "proc/pause.h"
#include "proc/remote_call.h"
#include "proc/tracer_thread.h"

namespace blip::probe {

namespace {

bool same_place(const x86::Rewrite& a, const x86::Rewrite& b) {
  return a.start == b.start && a.length == b.length && a.end() == b.end();
}

// All bytes that a site may have to do with: its own, and those its jump runs on over.
AddrRange changed_bytes(const x86::Rewrite& r) {
  return {r.start, std::max(r.end(), r.start + abi::kMaxEdit)};
}

}  // namespace

Status Instrumentation::check_room(size_t probes) const {
  if (probe_count() + probes > geometry_.probe_count)
    return Error(ErrorKind::kUnsupported,
                 fmt::format("no more than {} probes were provided for in this trace: {} are used and {} "
                             "more are needed; give a larger --max-probes",
                             geometry_.probe_count, probe_count(), probes));
  if (region_.pad_files.size() == abi::kMaxPadFiles)
    return Error(ErrorKind::kUnsupported, "probes were added to this trace too many times");
  return {};
}

Status Instrumentation::add(std::span<const proc::Map> mapped, std::span<const Module> modules,
                            ModuleSites sites, std::vector<Probe> probes) {
  TRY_OK(check_room(probes.size()));
  probes_ = std::move(probes);
  for (size_t i = 0; i < probes_.size(); ++i)
    probes_[i].program.switch_index = static_cast<uint32_t>(settled_ + i);
  if (!mapped.empty())
    for (const Module& module : modules) libraries_.push_back(module.extent());
  mapped_.assign(mapped.begin(), mapped.end());
  report_.last_paused = {};
  auto status = proc::on_tracer_thread([&] { return add_batch(modules, std::move(sites)); });
  mapped_.clear();
  const size_t first = settled_;
  settle();
  if (status) return {};
  for (size_t i = first; i < settled_; ++i) report_.refused.emplace_back(i, status.error().message());
  for (Patch& patch : table_.patches) patch.fresh = false;  // not to be tried again, but to be restored
  return status;
}

Status Instrumentation::add_batch(std::span<const Module> modules, ModuleSites sites) {
  batches_.emplace_back(modules, std::move(sites), probes(), std::vector<x86::SyscallSite>(), environment());
  Batch& batch = batches_.back();
  if (batch.max_edits() > site_table_.room())
    return Error(ErrorKind::kUnsupported,
                 "no room for more probes was provided for in this trace: give a larger --max-probes");
  TRY_OK(make_live());
  refuse_overlaps(batch);
  refuse_returns(batch);
  TrapSupport::refuse_all(batch, "traps cannot be added to a trace that runs");
  TRY_OK(stops_.with_one(
      [&](proc::Attachment&, proc::RemoteCaller& caller, std::span<const proc::Map> maps) -> Status {
        TRY(PadFile file,
            TargetRegion::map_pads(caller, process_, maps, batch.neighbourhoods(), batch.trampolines()));
        region_.pad_files.push_back(std::move(file));
        return {};
      }));
  auto* header = reinterpret_cast<abi::DataHeader*>(region());
  header->pad_files[region_.pad_files.size() - 1] = region_.pad_files.back().inode;
  header->pad_file_count = static_cast<uint32_t>(region_.pad_files.size());
  TRY(MadePatches made,
      batch.build(region_.pad_files.back(), modules, probes(), environment(), facts_.shadow_stack));
  take(batch, std::move(made));
  return patch_patiently();
}

// Memory for what the new probes will write to. The target's page tables are filled by its first
// hits.
Status Instrumentation::make_live() {
  uint32_t classes = live_classes_;
  for (const Probe& probe : probes_) classes = std::max(classes, probe.program.class_id + 1);
  std::vector<RegionPart> parts = histogram_parts(geometry_, online_, live_classes_, classes);
  const size_t used = geometry_.site_count - site_table_.room();
  parts.push_back({geometry_.sites_offset() + used * sizeof(abi::SiteEntry),
                   batches_.back().max_edits() * sizeof(abi::SiteEntry)});
  std::erase_if(parts, [](const RegionPart& part) { return part.size == 0; });
  TRY_OK(region_.allocate(parts));
  live_classes_ = classes;
  return {};
}

void Instrumentation::refuse_overlaps(Batch& batch) const {
  const auto conflicts = [&](const x86::Rewrite& r) {
    const TargetAddr board = r.springboard;
    if (table_.touches(changed_bytes(r))) return true;
    if (board != TargetAddr() && table_.touches({board, board + abi::kMaxEdit})) return true;
    return std::any_of(once_here_.begin(), once_here_.end(), [&](const x86::Rewrite& old) {
      return !same_place(old, r) && changed_bytes(old).overlaps(changed_bytes(r));
    });
  };
  for (size_t i = 0; i < batch.jobs().size(); ++i)
    if (conflicts(batch.jobs()[i].site->rewrite))
      batch.refuse(i, "a probe in this trace has, or had, to do with the same bytes");
}

// A thread in a pad of an earlier trace comes back behind the window of that one: not into the middle of a
// jump.
void Instrumentation::refuse_returns(Batch& batch) const {
  if (kept_.returns.empty()) return;
  for (size_t i = 0; i < batch.jobs().size(); ++i) {
    const x86::Rewrite& r = batch.jobs()[i].site->rewrite;
    const TargetAddr board = r.springboard;
    const bool sprung = board != TargetAddr() && kept_.returns_into({board, board + abi::kJumpSize});
    if (sprung || kept_.returns_into({r.start, r.end()}))
      batch.refuse(i, "somebody is still inside a probe that an earlier blip had at the same bytes");
  }
}

bool Instrumentation::is_last(const Patch& patch) const {
  return std::all_of(patch.job->probes.begin(), patch.job->probes.end(),
                     [&](uint32_t probe) { return removed_.contains(probe); });
}

Status Instrumentation::remove(size_t index) {
  switch_probe(index, false);
  removed_.insert(index);
  const auto patch = std::find_if(table_.patches.begin(), table_.patches.end(), [&](const Patch& p) {
    return p.active && p.job &&
           std::find(p.job->probes.begin(), p.job->probes.end(), index) != p.job->probes.end();
  });
  if (patch == table_.patches.end() || !is_last(*patch)) return {};
  const auto number = static_cast<uint32_t>(patch - table_.patches.begin());
  EditMask mask(table_.edits.size());
  std::vector<size_t> mine;
  for (size_t i = 0; i < mask.size(); ++i) {
    mask[i] = table_.edits.edits()[i].patch == number;
    if (mask[i]) mine.push_back(i);
  }
  const EditMask users = table_.edits.with_dependents(mine);
  for (size_t i = 0; i < mask.size(); ++i) {
    const uint32_t user = table_.edits.edits()[i].patch;
    if (users[i] && user != number && table_.patches[user].active) return {};
  }
  // The clone pad that its own pad goes on in is reached only through this site.
  if (calls_.goes_on_in(patch->job->site->rewrite)) return {};
  return proc::on_tracer_thread([&]() -> Status {
    for (int i = 0; i < kStopTries; ++i) {
      const auto done = proc::on_tracer_thread([&] { return restore_one(*patch, mask); });
      if (!done && !proc::is_pause_exceeded(done.error())) return done.error();
      if (done && *done) {
        retire(*patch, mine);
        return {};
      }
      std::this_thread::sleep_for(kBetweenTries);
    }
    return {};  // it stays, switched off
  });
}

// A child of a fork may still have its jump.
void Instrumentation::retire(Patch& patch, const std::vector<size_t>& edits) {
  once_here_.push_back(patch.job->site->rewrite);
  PatchTable one;
  one.patches.push_back(patch);
  std::vector<Edit> copies;
  for (size_t i : edits) {
    copies.push_back(table_.edits.edits()[i]);
    copies.back().patch = 0;
  }
  one.edits = EditSet(std::move(copies));
  retired_.push_back(std::move(one));
  patch.active = false;
}

// False: not now, or not ours any more.
Result<bool> Instrumentation::restore_one(const Patch& patch, const EditMask& mask) {
  const PatchIndex index(table_);
  return stops_.with_all([&](proc::Attachment& attachment) -> Result<bool> {
    if (memory_.mm_gone())
      return Error(ErrorKind::kGone, fmt::format("process {} called exec", process_.pid()));
    TRY(const std::vector<proc::Map> maps, proc::read_maps(process_.pid()));
    TRY(const std::vector<TargetAddr> held, leave_springboards(attachment, memory_, maps, index));
    if (std::find(held.begin(), held.end(), patch.springboard) != held.end()) return false;
    TRY(const TextReport text, restore_text(memory_, table_.edits, mask));
    return text.foreign.empty();
  });
}

}  // namespace blip::probe
