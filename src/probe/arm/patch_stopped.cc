// SPDX-License-Identifier: MIT
// The part of arming that happens while all threads stand still: what is true of all of them, then the jumps.
#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <utility>

#include "probe/arm/instrumentation.h"
#include "probe/arm/watch_calls.h"
#include "probe/inject/left_region.h"
#include "probe/inject/parked_code.h"
#include "probe/inject/pause_tries.h"
#include "probe/inject/text.h"
#include "probe/inject/threads.h"
#include "probe/inject/trap_action.h"
#include "proc/attachment.h"
#include "proc/files/cpu.h"
#include "proc/files/status.h"
#include "proc/pause.h"
#include "proc/remote_call.h"
#include "proc/tracer_thread.h"

namespace blip::probe {

Result<Instrumentation::Patched> Instrumentation::patch(bool last_try) {
  PatchIndex index(table_, PatchIndex::Only::kFresh);
  TRY(proc::Attachment attachment, proc::Attachment::stop_all(process_, limits()));
  memory_.set_fallback_tid(attachment.threads().front().tid);
  auto done = patch_stopped(attachment, std::move(index), last_try);
  memory_.set_fallback_tid(0);
  attachment.release();
  note_pause(attachment.longest_stop());
  return done;
}

// Whether every way to make a child that shares its parent's TLS will be watched: the sites hold what the
// file says.
Result<bool> Instrumentation::clone_sites_intact() const {
  for (const x86::SyscallSite& site : clone_sites_) {
    TRY(const auto bytes, (memory_.read_value<std::array<uint8_t, abi::kJumpSize>>(site.addr)));
    if (bytes != first_instruction(site)) return false;
  }
  return true;
}

// No site is patched and no thread moved yet: pads may still be rebuilt for what is true of all threads.
Result<bool> Instrumentation::check_facts(proc::Attachment& attachment) {
  const auto hold = [&] {
    return facts_hold(attachment, memory_, process_.ns_pid(), facts_, geometry_.ring_count);
  };
  TRY(const bool intact, clone_sites_intact());
  if (hold() && (intact || !facts_.rseq)) return false;
  facts_ = find_thread_facts(attachment, memory_, process_.ns_pid(), facts_.tid_offset);
  if (unhooked_clone_ || !intact || !hold()) facts_.rseq.reset();
  if (!facts_.rseq && no_ranges_.empty()) no_ranges_ = "the threads have no restartable sequences";
  report_.notes.push_back("threads differ, or clone is watched by another tool: using the shared ring");
  report_.refused.clear();
  TRY_OK(build());
  return true;
}

Status Instrumentation::refuse_other_blip(const std::vector<proc::Map>& maps) const {
  for (const proc::Map& map : maps) {
    if (is_data_memory(map) && map.range.begin != region_.control && !kept_.has(map.range))
      return Error(ErrorKind::kBusy,
                   fmt::format("another blip has just attached to process {}", process_.pid()));
  }
  return {};
}

Result<Instrumentation::Patched> Instrumentation::patch_stopped(proc::Attachment& attachment,
                                                                PatchIndex index, bool last_try) {
  if (memory_.mm_gone())
    return Error(ErrorKind::kGone, fmt::format("process {} called exec", process_.pid()));
  if (!touched_) {
    TRY(const bool rebuilt, check_facts(attachment));
    if (rebuilt) index = PatchIndex(table_, PatchIndex::Only::kFresh);
    if (rebuilt) written_.assign(table_.edits.size(), false);
  }
  TRY(const std::vector<proc::Map> maps, proc::read_maps(process_.pid()));
  TRY_OK(refuse_other_blip(maps));
  TRY_OK(check_mapped(maps));
  TRY(const std::vector<InterruptedCode> interrupted, interrupted_code(attachment, memory_, maps));
  if (!open_) note_filter(any_filtered(attachment));
  if (!open_ && meets_call(attachment, interrupted, last_try)) return Patched::kBlocked;
  if (!open_ && facts_.rseq && any_before(attachment, interrupted, clone_sites_)) {
    if (!last_try) return Patched::kBlocked;
    return Error(ErrorKind::kBusy,
                 fmt::format("process {} makes children all the time: try again", process_.pid()));
  }
  if (!open_ && has_traps()) {
    TRY(const std::string obstacle, trap_obstacle(attachment, maps));
    if (!obstacle.empty() && !last_try) return Patched::kBlocked;
    if (!obstacle.empty()) TRY_OK(drop_traps(obstacle));
  }
  if (attachment.must_let_go()) return Patched::kSome;
  const bool touched_before = std::exchange(touched_, true);  // threads may be moved
  TRY(const std::vector<const Patch*> blocked, move_into_pads(attachment, interrupted, index, last_try));
  if (!blocked.empty()) {
    if (!last_try) {
      touched_ = touched_before;
      return Patched::kBlocked;
    }
    TRY_OK(drop(blocked, "a thread or a signal handler is inside the bytes to be replaced"));
  }
  TRY_OK(drop_parked(attachment, maps, index));
  if (!open_) TRY_OK(write_gate(abi::kGateOpen));
  if (!open_ && has_traps()) TRY_OK(start_traps(attachment, maps));
  return install(attachment);
}

// Where time is limited first what must not be missing while any probe is live, then probes.
Result<Instrumentation::Patched> Instrumentation::install(proc::Attachment& attachment) {
  if (max_pause_ && !open_) {
    TRY(const bool guarded, write_edits(guards(), attachment));
    if (!guarded) return Patched::kSome;
  }
  const bool opens = !std::exchange(open_, true);
  TRY(const bool all, write_edits(table_.fresh(), attachment));
  if (opens) TRY_OK(write_gate(abi::kGateOpen));  // some calls may turn out to be somebody else's
  if (!all) return Patched::kSome;
  for (Patch& patch : table_.patches) patch.fresh = false;
  switch_off_broken_groups();
  return Patched::kAll;
}

// False: not all of them, for want of time. A patch is fresh until all of its edits are there.
Result<bool> Instrumentation::write_edits(const EditMask& which, proc::Attachment& attachment) {
  TimeIsUp time_is_up;
  if (max_pause_) time_is_up = [&] { return attachment.must_let_go(); };
  EditMask wanted = which;
  for (size_t i = 0; max_pause_ && i < wanted.size(); ++i) wanted[i] = wanted[i] && !written_[i];
  TRY(const TextReport text, install_text(memory_, table_.edits, wanted, time_is_up));
  TRY_OK(drop(text));
  if (!max_pause_) return true;
  for (const std::vector<size_t>* edits : {&text.undone, &text.foreign, &text.left})
    for (const size_t i : *edits) wanted[i] = false;
  std::vector<bool> incomplete(table_.patches.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i]) written_[i] = true;
    if (!written_[i]) incomplete[table_.edits.edits()[i].patch] = true;
  }
  for (size_t i = 0; i < incomplete.size(); ++i)
    if (!incomplete[i]) table_.patches[i].fresh = false;
  return text.undone.empty();
}

// The fresh edits of blip's own sites, of windows that take their place, and what these need.
EditMask Instrumentation::guards() const {
  const EditMask fresh = table_.fresh();
  std::vector<size_t> own;
  for (size_t i = 0; i < fresh.size(); ++i) {
    const Patch& patch = table_.patches[table_.edits.edits()[i].patch];
    if (fresh[i] && (!patch.job || watches(patch.job->site->rewrite))) own.push_back(i);
  }
  EditMask wanted = table_.edits.with_needs(own);
  for (size_t i = 0; i < wanted.size(); ++i) wanted[i] = wanted[i] && fresh[i];
  return wanted;
}

size_t Instrumentation::fresh_edits() const {
  const EditMask fresh = table_.fresh();
  size_t count = 0;
  for (size_t i = 0; i < fresh.size(); ++i) count += fresh[i] && !written_[i];
  return count;
}

Error Instrumentation::pause_error(int tries) const {
  return proc::pause_exceeded(
      fmt::format("process {}: nothing was armed: it could not be stopped for less than --max-pause {} in {} "
                  "tries. Give a longer pause, or try again on a less busy machine",
                  process_.pid(), pause_text(*max_pause_), tries));
}

// What is not in the text yet is refused. A place of which a part has been written stays to be restored.
Status Instrumentation::give_up_for_pause(int tries) {
  const bool any = std::any_of(table_.patches.begin(), table_.patches.end(),
                               [](const Patch& p) { return p.job && p.active && !p.fresh; });
  if (!open_ || !any) return pause_error(tries);
  const std::string reason = fmt::format(
      "no stop of the process was short enough for --max-pause {}, {} tries", pause_text(*max_pause_), tries);
  const std::vector<bool> begun = begun_patches();
  for (size_t i = 0; i < table_.patches.size(); ++i) {
    Patch& patch = table_.patches[i];
    if (!patch.active || !patch.fresh) continue;
    if (patch.job) refuse(*patch.job, reason);
    patch.active = begun[i];
    patch.fresh = false;
  }
  return {};
}

// Of which something is in the text.
std::vector<bool> Instrumentation::begun_patches() const {
  std::vector<bool> begun(table_.patches.size());
  for (size_t i = 0; i < written_.size(); ++i)
    if (written_[i]) begun[table_.edits.edits()[i].patch] = true;
  return begun;
}

// A window whose pad goes on in one of blip's own.
bool Instrumentation::watches(const x86::Rewrite& rewrite) const {
  const auto covered = [&](const x86::SyscallSite& site) { return covers(rewrite, site); };
  return std::any_of(clone_sites_.begin(), clone_sites_.end(), covered) ||
         std::any_of(call_sites_.begin(), call_sites_.end(), covered);
}

// Those of which a part may not be in the text yet: calls would be remembered that nobody sees returning.
void Instrumentation::switch_groups(bool on) {
  std::set<size_t> incomplete;
  for (const Patch& patch : table_.patches)
    if (patch.job && patch.fresh)
      for (const uint32_t probe : patch.job->probes) incomplete.insert(probes_[probe].group);
  for (size_t i = 0; i < probes_.size(); ++i) {
    if (probes_[i].group == Probe::kAlone || removed_.contains(i)) continue;
    if (on || incomplete.contains(probes_[i].group)) switch_probe(i, on);
  }
}

// Where an exit could not be patched, the entry must not remember calls.
void Instrumentation::switch_off_broken_groups() {
  std::set<size_t> broken;
  for (const auto& [probe, reason] : report_.refused)
    if (probe >= settled_ && probes()[probe].group != Probe::kAlone) broken.insert(probes()[probe].group);
  for (size_t i = settled_; !broken.empty() && i < probe_count(); ++i)
    if (broken.contains(probes()[i].group)) switch_probe(i, false);
}

Status Instrumentation::drop(const std::vector<const Patch*>& blocked, const std::string& reason) {
  std::set<const Patch*> patches(blocked.begin(), blocked.end());
  std::vector<size_t> edits;
  for (size_t i = 0; i < table_.edits.size(); ++i)
    if (patches.contains(&table_.patches[table_.edits.edits()[i].patch])) edits.push_back(i);
  return deactivate(table_.edits.with_dependents(edits), [&](size_t edit) {
    return patches.contains(&table_.patches[table_.edits.edits()[edit].patch]) ? reason : kNeedsRefused;
  });
}

// Fibers that do not run may have been interrupted inside a window.
Status Instrumentation::drop_parked(proc::Attachment& attachment, const std::vector<proc::Map>& maps,
                                    const PatchIndex& index) {
  std::vector<AddrRange> places = index.disturbed_places();
  const std::vector<AddrRange> calls = open_ ? std::vector<AddrRange>() : instructions_of(call_sites_);
  places.insert(places.end(), calls.begin(), calls.end());
  if (places.empty() || !may_park_code(parking_, attachment, memory_, maps)) return {};
  TRY(const ParkedCode parked, find_parked_code(memory_, maps, merge_ranges(std::move(places)),
                                                [&] { return attachment.must_let_go(); }));
  std::vector<const Patch*> found;
  for (const InterruptedCode& code : parked.found)
    if (const Patch* patch = index.disturbed_at(code.pc)) found.push_back(patch);
  for (const x86::SyscallSite& site : call_sites_) {  // it will be made some time
    const bool is_found = any_parked_before(parked.found, site);
    if (open_ || (!is_found && !parked.unknown)) continue;
    if (no_ranges_.empty()) no_ranges_ = "a fiber may be about to take memory away";
    if (is_found || mentions_filters(modules_)) give_up(site);
  }
  if (!found.empty())
    return drop(found, "a fiber, or what looks like one, is inside the bytes to be replaced");
  if (!parked.unknown) return {};
  for (const Patch& patch : table_.patches)
    if (patch.active && patch.fresh && (patch.heads.size() > 1 || patch.springboard != TargetAddr()))
      found.push_back(&patch);
  return drop(found,
              "the program switches stacks by itself, and has too much memory to look for code that waits "
              "inside the bytes to be replaced");
}

std::string Instrumentation::why_foreign(const Edit& edit) const {
  constexpr uint8_t kBreakpoint = 0xcc;
  std::array<uint8_t, abi::kMaxEdit> now{};
  const bool read = memory_.read(edit.addr, std::span(now).first(edit.size)).has_value();
  for (size_t i = 0; read && i < edit.size; ++i)
    if (now[i] == kBreakpoint && edit.original[i] != kBreakpoint)
      return "a breakpoint stands there: a debugger's, or a uprobe of the kernel";
  return "the code in memory differs from the file";
}

Status Instrumentation::drop(const TextReport& text) {
  EditMask edits(table_.edits.size());
  for (size_t i : text.left) edits[i] = true;
  for (size_t i : text.foreign) edits[i] = true;
  for (size_t i = 0; i < edits.size(); ++i)
    if (edits[i] && table_.patches[table_.edits.edits()[i].patch].sets_action && has_traps())
      return Error(ErrorKind::kBusy,
                   fmt::format("another tool watches the signal actions of process {}", process_.pid()));
  return deactivate(edits, [&](size_t edit) {
    return std::find(text.foreign.begin(), text.foreign.end(), edit) != text.foreign.end()
               ? why_foreign(table_.edits.edits()[edit])
               : kNeedsRefused;
  });
}

Status Instrumentation::deactivate(const EditMask& edits,
                                   const std::function<std::string(size_t edit)>& reason) {
  const std::vector<bool> begun = begun_patches();
  for (size_t i = 0; i < edits.size(); ++i) {
    const uint32_t number = table_.edits.edits()[i].patch;
    Patch& patch = table_.patches[number];
    if (!edits[i] || !patch.active || !patch.fresh) continue;
    patch.active = begun[number];
    patch.fresh = false;
    if (patch.job) refuse(*patch.job, reason(i));
    const auto covered = [&](const auto& site) {
      return patch.job && covers(patch.job->site->rewrite, site);
    };
    for (const x86::SyscallSite& site : call_sites_)
      if (covered(site) || (patch.unmaps && site.addr == patch.addr)) give_up(site);
    const bool guards_clone = std::any_of(clone_sites_.begin(), clone_sites_.end(), covered);
    if (guards_clone && facts_.rseq)
      return Error(ErrorKind::kBusy,
                   fmt::format("process {} is busy making children: try again", process_.pid()));
  }
  return {};
}

}  // namespace blip::probe
