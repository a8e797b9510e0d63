// SPDX-License-Identifier: MIT
// The part of arming that happens while all threads stand still: what is true of all of them, then the jumps.
#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <utility>

#include "probe/arm/instrumentation.h"
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

using Stage = ArmingStage::Stage;

Result<Instrumentation::Patched> Instrumentation::patch(bool last_try) {
  PatchIndex index(table_, PatchIndex::Only::kFresh);
  return stops_.with_all(
      [&](proc::Attachment& attachment) { return patch_stopped(attachment, std::move(index), last_try); });
}

// No site is patched and no thread moved yet: pads may still be rebuilt for what is true of all threads.
Result<bool> Instrumentation::check_facts(proc::Attachment& attachment) {
  const auto hold = [&] {
    return facts_hold(attachment, memory_, process_.ns_pid(), facts_, geometry_.ring_count);
  };
  TRY(const bool intact, calls_.clones_intact(memory_));
  if (hold() && (intact || !facts_.rseq)) return false;
  facts_ = find_thread_facts(attachment, memory_, process_.ns_pid(), facts_.tid_offset);
  if (calls_.unseen_children() || !intact || !hold()) facts_.rseq.reset();
  if (!facts_.rseq) calls_.note_no_sequences();
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
  if (!stage_.is_touched()) {
    TRY(const bool rebuilt, check_facts(attachment));
    if (rebuilt) index = PatchIndex(table_, PatchIndex::Only::kFresh);
    if (rebuilt) written_.assign(table_.edits.size(), false);
  }
  TRY(const std::vector<proc::Map> maps, proc::read_maps(process_.pid()));
  TRY_OK(refuse_other_blip(maps));
  TRY_OK(check_mapped(maps));
  TRY(const std::vector<InterruptedCode> interrupted, interrupted_code(attachment, memory_, maps));
  if (!stage_.is_open()) {
    calls_.note_filter(any_filtered(attachment));
    if (calls_.any_before_call(attachment, interrupted, last_try)) return Patched::kBlocked;
    if (facts_.rseq && calls_.any_before_clone(attachment, interrupted)) {
      if (!last_try) return Patched::kBlocked;
      return Error(ErrorKind::kBusy,
                   fmt::format("process {} makes children all the time: try again", process_.pid()));
    }
    if (traps_.any_in(table_)) {
      TRY(const std::string obstacle,
          traps_.find_obstacle(attachment, maps, table_, footprint().trap_table()));
      if (!obstacle.empty() && !last_try) return Patched::kBlocked;
      // Nothing watches the program's signal actions then.
      if (!obstacle.empty()) TRY_OK(deactivate(TrapSupport::edits_of(table_), [&](size_t) { return obstacle; }));
    }
  }
  if (attachment.must_let_go()) return Patched::kSome;
  const bool was_touched = stage_.is_touched();
  if (!was_touched) stage_.enter(Stage::kTouched);  // threads may be moved
  TRY(const std::vector<const Patch*> blocked, move_into_pads(attachment, interrupted, index, last_try));
  if (!blocked.empty()) {
    if (!last_try) {
      if (!was_touched) stage_.enter(Stage::kBuilt);
      return Patched::kBlocked;
    }
    TRY_OK(drop(blocked, "a thread or a signal handler is inside the bytes to be replaced"));
  }
  TRY_OK(drop_parked(attachment, maps, index));
  if (!stage_.is_open()) {
    TRY_OK(write_gate(abi::kGateOpen));
    if (traps_.any_in(table_))
      TRY_OK(traps_.start(attachment, maps, table_, footprint().trap_table(), environment().gate()));
  }
  return install(attachment);
}

// Where time is limited first what must not be missing while any probe is live, then probes.
Result<Instrumentation::Patched> Instrumentation::install(proc::Attachment& attachment) {
  if (stops_.max_pause() && !stage_.is_open()) {
    TRY(const bool guarded, write_edits(guards(), attachment));
    if (!guarded) return Patched::kSome;
  }
  const bool opens = !stage_.is_open();
  if (opens) stage_.enter(Stage::kOpen);
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
  if (stops_.max_pause()) time_is_up = [&] { return attachment.must_let_go(); };
  EditMask wanted = which;
  for (size_t i = 0; stops_.max_pause() && i < wanted.size(); ++i) wanted[i] = wanted[i] && !written_[i];
  TRY(const TextReport text, install_text(memory_, table_.edits, wanted, time_is_up));
  TRY_OK(drop(text));
  if (!stops_.max_pause()) return true;
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
    if (fresh[i] && (!patch.job || calls_.goes_on_in(patch.job->site->rewrite))) own.push_back(i);
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

// What is not in the text yet is refused. A place of which a part has been written stays to be restored.
Status Instrumentation::give_up_for_pause(int tries) {
  const bool any = std::any_of(table_.patches.begin(), table_.patches.end(),
                               [](const Patch& p) { return p.job && p.active && !p.fresh; });
  if (!stage_.is_open() || !any) return stops_.too_long(tries);
  const std::string reason =
      fmt::format("no stop of the process was short enough for --max-pause {}, {} tries",
                  pause_text(*stops_.max_pause()), tries);
  const std::vector<bool> begun = begun_patches();
  for (size_t i = 0; i < table_.patches.size(); ++i) {
    Patch& patch = table_.patches[i];
    if (!patch.active || !patch.fresh) continue;
    if (patch.job) report_.refuse(*patch.job, reason);
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
  if (!stage_.is_open()) {
    const std::vector<AddrRange> calls = calls_.call_instructions();
    places.insert(places.end(), calls.begin(), calls.end());
  }
  if (places.empty() || !may_park_code(parking_, attachment, memory_, maps)) return {};
  TRY(const ParkedCode parked, find_parked_code(memory_, maps, merge_ranges(std::move(places)),
                                                [&] { return attachment.must_let_go(); }));
  std::vector<const Patch*> found;
  for (const InterruptedCode& code : parked.found)
    if (const Patch* patch = index.disturbed_at(code.pc)) found.push_back(patch);
  if (!stage_.is_open()) calls_.note_parked(parked);
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
    if (edits[i] && table_.patches[table_.edits.edits()[i].patch].sets_action && traps_.any_in(table_))
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
    if (patch.job) report_.refuse(*patch.job, reason(i));
    calls_.note_missing(patch);
    if (calls_.guards_clone(patch) && facts_.rseq)
      return Error(ErrorKind::kBusy,
                   fmt::format("process {} is busy making children: try again", process_.pid()));
  }
  return {};
}

}  // namespace blip::probe
