// SPDX-License-Identifier: MIT
// The part of arming that happens while all threads stand still: what is true of all of them, then the jumps.
#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <utility>

#include "probe/instrumentation.h"
#include "probe/left_region.h"
#include "probe/parked_code.h"
#include "probe/text.h"
#include "probe/threads.h"
#include "probe/trap_action.h"
#include "probe/watch_calls.h"
#include "proc/attachment.h"
#include "proc/cpu.h"
#include "proc/remote_call.h"
#include "proc/status.h"
#include "proc/tracer_thread.h"

namespace blip::probe {

Result<bool> Instrumentation::patch(bool last_try) {
  PatchIndex index(table_, PatchIndex::Only::kFresh);
  TRY(proc::Attachment attachment, proc::Attachment::stop_all(process_));
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
  for (const x86::CloneSite& site : clone_sites_) {
    TRY(const auto bytes, (memory_.read_value<std::array<uint8_t, abi::kJumpSize>>(site.addr)));
    uint32_t number;
    std::memcpy(&number, &bytes[1], sizeof number);
    if (bytes[0] != 0xb8 || number != site.number) return false;  // mov $number, %eax
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

Result<bool> Instrumentation::patch_stopped(proc::Attachment& attachment, PatchIndex index, bool last_try) {
  if (memory_.mm_gone())
    return Error(ErrorKind::kGone, fmt::format("process {} called exec", process_.pid()));
  if (!touched_) {
    TRY(const bool rebuilt, check_facts(attachment));
    if (rebuilt) index = PatchIndex(table_, PatchIndex::Only::kFresh);
  }
  TRY(const std::vector<proc::Map> maps, proc::read_maps(process_.pid()));
  TRY_OK(refuse_other_blip(maps));
  TRY_OK(check_mapped(maps));
  TRY(const std::vector<InterruptedCode> interrupted, interrupted_code(attachment, memory_, maps));
  if (!open_) note_filter(any_filtered(attachment));
  if (!open_ && meets_call(attachment, interrupted, last_try)) return false;
  if (!open_ && facts_.rseq && any_before(attachment, interrupted, clone_sites_)) {
    if (!last_try) return false;
    return Error(ErrorKind::kBusy,
                 fmt::format("process {} makes children all the time: try again", process_.pid()));
  }
  if (!open_ && has_traps()) {
    TRY(const std::string obstacle, trap_obstacle(attachment, maps));
    if (!obstacle.empty() && !last_try) return false;
    if (!obstacle.empty()) TRY_OK(drop_traps(obstacle));
  }
  const bool touched_before = std::exchange(touched_, true);  // threads may be moved
  TRY(const std::vector<const Patch*> blocked, move_into_pads(attachment, interrupted, index, last_try));
  if (!blocked.empty()) {
    if (!last_try) {
      touched_ = touched_before;
      return false;
    }
    TRY_OK(drop(blocked, "a thread or a signal handler is inside the bytes to be replaced"));
  }
  TRY_OK(drop_parked(attachment, maps, index));
  if (!open_) TRY_OK(write_gate(abi::kGateOpen));
  if (!open_ && has_traps()) TRY_OK(start_traps(attachment, maps));
  const bool opens = !std::exchange(open_, true);
  TRY(const TextReport text, install_text(memory_, table_.edits, table_.fresh()));
  TRY_OK(drop(text));
  if (opens) TRY_OK(write_gate(abi::kGateOpen));  // some calls may turn out to be somebody else's
  for (Patch& patch : table_.patches) patch.fresh = false;
  switch_off_broken_groups();
  return true;
}

// A window whose pad goes on in one of blip's own.
bool Instrumentation::watches(const x86::Rewrite& rewrite) const {
  const auto covered = [&](const x86::CloneSite& site) { return covers(rewrite, site); };
  return std::any_of(clone_sites_.begin(), clone_sites_.end(), covered) ||
         std::any_of(call_sites_.begin(), call_sites_.end(), covered);
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
  TRY(const ParkedCode parked, find_parked_code(memory_, maps, merge_ranges(std::move(places))));
  std::vector<const Patch*> found;
  for (const InterruptedCode& code : parked.found)
    if (const Patch* patch = index.disturbed_at(code.pc)) found.push_back(patch);
  for (const x86::CloneSite& site : call_sites_) {  // it will be made some time
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
    return std::binary_search(text.foreign.begin(), text.foreign.end(), edit)
               ? why_foreign(table_.edits.edits()[edit])
               : kNeedsRefused;
  });
}

Status Instrumentation::deactivate(const EditMask& edits,
                                   const std::function<std::string(size_t edit)>& reason) {
  for (size_t i = 0; i < edits.size(); ++i) {
    Patch& patch = table_.patches[table_.edits.edits()[i].patch];
    if (!edits[i] || !patch.active || !patch.fresh) continue;
    patch.active = false;
    if (patch.job) refuse(*patch.job, reason(i));
    const auto covered = [&](const auto& site) {
      return patch.job && covers(patch.job->site->rewrite, site);
    };
    for (const x86::CloneSite& site : call_sites_)
      if (covered(site) || (patch.unmaps && site.addr == patch.addr)) give_up(site);
    const bool guards_clone = std::any_of(clone_sites_.begin(), clone_sites_.end(), covered);
    if (guards_clone && facts_.rseq)
      return Error(ErrorKind::kBusy,
                   fmt::format("process {} is busy making children: try again", process_.pid()));
  }
  return {};
}

}  // namespace blip::probe
