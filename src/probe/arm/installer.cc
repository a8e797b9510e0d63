// SPDX-License-Identifier: MIT
// The part of arming that happens while all threads stand still: what is true of all of them, then the jumps.
#include "probe/arm/installer.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <thread>
#include <utility>

#include "probe/inject/left_region.h"
#include "probe/inject/parked_code.h"
#include "probe/inject/pause_tries.h"
#include "probe/inject/semaphores.h"
#include "probe/inject/thread_facts.h"
#include "proc/pause.h"
#include "proc/tracer_thread.h"

namespace blip::probe {

using Stage = ArmingStage::Stage;

namespace {

bool is_there(const proc::Map& wanted, const std::vector<proc::Map>& maps) {
  const proc::Map* now = proc::find_map(maps, wanted.range.begin);
  return now && now->exec && now->dev == wanted.dev && now->inode == wanted.inode &&
         now->offset + (wanted.range.begin - now->range.begin) == wanted.offset &&
         now->range.end >= wanted.range.end;
}

}  // namespace

Status Installer::run() {
  PauseTries pauses;
  trace_.patches.begin_stops();
  std::vector<size_t> switched_off;
  if (is_limited()) switched_off = switch_incomplete_off();
  for (int i = 1;;) {
    const size_t before = trace_.patches.unwritten_count();
    const auto done = proc::on_tracer_thread([&] { return patch(i == kStopTries); });
    if (!done && !proc::is_pause_exceeded(done.error())) return done.error();
    if (done && *done == Patched::kAll) break;
    if (done && *done == Patched::kBlocked) {
      ++i;
      std::this_thread::sleep_for(kBetweenTries);
      continue;
    }
    if (trace_.patches.unwritten_count() < before) pauses.got_on();
    if (!trace_.stage.is_open()) TRY_OK(trace_.check_stop());
    if (!trace_.wants_to_stop() && pauses.again()) continue;
    TRY_OK(give_up_for_pause(pauses.tries()));
    break;
  }
  switch_on(switched_off);
  switch_off_broken_groups();
  return {};
}

Result<Installer::Patched> Installer::patch(bool last_try) {
  PatchIndex index(trace_.patches.table(), PatchIndex::Only::kFresh);
  return trace_.stops.with_all(
      [&](proc::Attachment& attachment) { return patch_stopped(attachment, std::move(index), last_try); });
}

Result<Installer::Patched> Installer::patch_stopped(proc::Attachment& attachment, PatchIndex index,
                                                    bool last_try) {
  if (trace_.target.mm_gone())
    return Error(ErrorKind::kGone, fmt::format("process {} called exec", trace_.process.pid()));
  if (!trace_.stage.is_in_target())
    return Error(ErrorKind::kGone, fmt::format("the trace of process {} has ended", trace_.process.pid()));
  if (!trace_.stage.is_touched()) {
    TRY(const bool rebuilt, check_facts(attachment));
    if (rebuilt) index = PatchIndex(trace_.patches.table(), PatchIndex::Only::kFresh);
    if (rebuilt) trace_.patches.begin_stops();
  }
  TRY(const std::vector<proc::Map> maps, proc::read_maps(trace_.process.pid()));
  TRY_OK(check_alone(maps));
  TRY_OK(check_mapped(maps));
  StoppedCode code(attachment, trace_.target, maps);
  TRY(const std::vector<InterruptedCode> interrupted, code.interrupted());
  if (!trace_.stage.is_open()) {
    TRY(const bool blocked, is_blocked(code, maps, interrupted, last_try));
    if (blocked) return Patched::kBlocked;
  }
  if (attachment.must_let_go()) return Patched::kSome;
  TRY(const bool moved, move_threads(attachment, interrupted, index, last_try));
  if (!moved) return Patched::kBlocked;
  TRY_OK(drop_parked(attachment, maps, index));
  if (!trace_.stage.is_open()) TRY_OK(open_gate(attachment, maps));
  TRY(const Patched done, install(attachment));
  TRY_OK(raise_semaphores(maps));
  return done;
}

// Those of marks whose probes are in the text, or are on their way into it: a word too high costs the program a little time.
Status Installer::raise_semaphores(std::span<const proc::Map> maps) {
  std::set<size_t> refused;
  for (const auto& [probe, reason] : trace_.report.refused) refused.insert(probe);
  trace_.semaphores.want(trace_.probes.fresh(), [&](size_t probe) { return refused.contains(probe); });
  const AddrRange table = trace_.memory.footprint().semaphores();
  TRY(const size_t failed, trace_.semaphores.raise(Semaphores(trace_.target, table), maps));
  if (failed != 0)
    trace_.report.notes.push_back(fmt::format(
        "{} semaphores of static marks could not be raised: those marks may stay silent", failed));
  return {};
}

// No site is patched and no thread moved yet: pads may still be rebuilt for what is true of all threads.
Result<bool> Installer::check_facts(proc::Attachment& attachment) {
  const pid_t ns_pid = trace_.process.ns_pid();
  const auto hold = [&](const ThreadFacts& facts) {
    return facts_hold(attachment, trace_.target, ns_pid, facts, trace_.memory.geometry().ring_count);
  };
  TRY(const bool intact, trace_.calls.clones_intact(trace_.target));
  const ThreadFacts& assumed = trace_.facts.threads();
  if (hold(assumed) && (intact || !assumed.rseq)) return false;
  ThreadFacts found = find_thread_facts(attachment, trace_.target, ns_pid, assumed.tid_offset);
  if (trace_.calls.unseen_children() || !intact || !hold(found)) found.rseq.reset();
  if (!found.rseq) trace_.calls.note_no_sequences();
  trace_.facts.set_threads(found);
  trace_.report.notes.push_back("threads differ, or clone is watched by another tool: using the shared ring");
  trace_.report.refused.clear();
  TRY_OK(rebuild_());
  return true;
}

Status Installer::check_alone(std::span<const proc::Map> maps) const {
  const TraceMemory& own = trace_.memory;
  for (const proc::Map& map : maps)
    if (is_data_memory(map) && map.range.begin != own.region().control && !own.kept().has(map.range))
      return Error(ErrorKind::kBusy,
                   fmt::format("another blip has just attached to process {}", trace_.process.pid()));
  return {};
}

// None was moved yet.
Status Installer::check_mapped(const std::vector<proc::Map>& maps) {
  if (std::all_of(mapped_.begin(), mapped_.end(), [&](const proc::Map& map) { return is_there(map, maps); }))
    return {};
  trace_.patches.drop_unloaded();
  return Error(ErrorKind::kNotFound, "it was unloaded again");
}

// Before the first patch: somebody is about to make a call that must be seen, or traps cannot be used now.
Result<bool> Installer::is_blocked(StoppedCode& code, const std::vector<proc::Map>& maps,
                                   std::span<const InterruptedCode> interrupted, bool last_try) {
  proc::Attachment& attachment = code.attachment();
  trace_.calls.note_filter(any_filtered(attachment));
  if (trace_.calls.any_before_call(code, interrupted, last_try)) return true;
  if (trace_.facts.threads().rseq && trace_.calls.any_before_clone(code)) {
    if (!last_try) return true;
    return Error(ErrorKind::kBusy,
                 fmt::format("process {} makes children all the time: try again", trace_.process.pid()));
  }
  const PatchTable& table = trace_.patches.table();
  if (!trace_.traps.any_in(table)) return false;
  const TargetAddr trap_table = trace_.memory.footprint().trap_table();
  TRY(const std::string obstacle, trace_.traps.find_obstacle(attachment, maps, table, trap_table));
  if (obstacle.empty()) return false;
  if (!last_try) return true;
  // Nothing watches the program's signal actions then.
  TRY_OK(drop(TrapSupport::edits_of(table), [&](size_t) { return obstacle; }));
  return false;
}

// False: somebody is in the way, and nobody was moved.
Result<bool> Installer::move_threads(proc::Attachment& attachment,
                                     std::span<const InterruptedCode> interrupted, const PatchIndex& index,
                                     bool last_try) {
  const bool was_touched = trace_.stage.is_touched();
  if (!was_touched) trace_.stage.enter(Stage::kTouched);
  TRY(const std::vector<const Patch*> blocked, move_into_pads(attachment, interrupted, index, last_try));
  if (blocked.empty()) return true;
  if (!last_try) {
    if (!was_touched) trace_.stage.enter(Stage::kBuilt);
    return false;
  }
  TRY_OK(drop(blocked, "a thread or a signal handler is inside the bytes to be replaced"));
  return true;
}

Status Installer::open_gate(proc::Attachment& attachment, const std::vector<proc::Map>& maps) {
  TRY_OK(write_gate());
  const PatchTable& table = trace_.patches.table();
  if (!trace_.traps.any_in(table)) return {};
  return trace_.traps.start(attachment, maps, table, trace_.memory.footprint().trap_table(),
                            trace_.facts.environment().process.gate());
}

Status Installer::write_gate() {
  return trace_.memory.write_gate(trace_.facts.gate_page(abi::kGateOpen, trace_.process.ns_pid()),
                                  trace_.facts.filtered(), trace_.facts.unannounced_gate());
}

// Where time is limited first what must not be missing while any probe is live, then probes.
Result<Installer::Patched> Installer::install(proc::Attachment& attachment) {
  PatchSet& patches = trace_.patches;
  const bool opens = !trace_.stage.is_open();
  if (is_limited() && opens) {
    const auto is_guard = [&](const Patch& p) { return trace_.calls.goes_on_in(p.job->site->rewrite); };
    TRY(const bool guarded, write_edits(patches.guards(is_guard), attachment));
    if (!guarded) return Patched::kSome;
  }
  if (opens) trace_.stage.enter(Stage::kOpen);
  TRY(const bool all, write_edits(patches.table().fresh(), attachment));
  if (opens) TRY_OK(write_gate());  // some calls may turn out to be somebody else's
  if (!all) return Patched::kSome;
  patches.note_all_written();
  switch_off_broken_groups();
  return Patched::kAll;
}

// False: not all of them, for want of time.
Result<bool> Installer::write_edits(const EditMask& which, proc::Attachment& attachment) {
  TimeIsUp time_is_up;
  if (is_limited()) time_is_up = [&] { return attachment.must_let_go(); };
  EditMask wanted = is_limited() ? trace_.patches.unwritten(which) : which;
  TRY(const TextReport text, install_text(trace_.target, trace_.patches.table().edits, wanted, time_is_up));
  TRY_OK(drop(text));
  if (!is_limited()) return true;
  for (const std::vector<size_t>* edits : {&text.undone, &text.foreign, &text.left})
    for (const size_t i : *edits) wanted[i] = false;
  trace_.patches.note_written(wanted);
  return text.undone.empty();
}

// What is not in the text yet is refused.
Status Installer::give_up_for_pause(int tries) {
  if (!trace_.stage.is_open() || !trace_.patches.any_armed()) return trace_.stops.too_long(tries);
  const std::string reason =
      fmt::format("no stop of the process was short enough for --max-pause {}, {} tries",
                  pause_text(*trace_.stops.max_pause()), tries);
  trace_.patches.drop_fresh([&](const Patch& patch) {
    if (patch.job) trace_.report.refuse(*patch.job, reason);
  });
  return {};
}

// Groups of which a part may not be in the text yet: calls would be remembered that nobody sees returning.
std::vector<size_t> Installer::switch_incomplete_off() {
  std::set<size_t> incomplete;
  for (const Patch& patch : trace_.patches.table().patches)
    if (patch.job && patch.fresh) incomplete.insert(patch.job->probes.begin(), patch.job->probes.end());
  std::vector<size_t> probes = trace_.probes.group_members(incomplete);
  std::erase_if(probes, [&](size_t i) { return trace_.probes.removed().contains(i); });
  for (const size_t i : probes) trace_.memory.switch_probe(i, false);
  return probes;
}

void Installer::switch_on(std::span<const size_t> probes) {
  for (const size_t i : probes) trace_.memory.switch_probe(i, true);
}

// Where an exit could not be patched, the entry must not remember calls.
void Installer::switch_off_broken_groups() {
  std::set<size_t> broken;
  for (const auto& [probe, reason] : trace_.report.refused)
    if (probe >= trace_.probes.first_fresh()) broken.insert(probe);
  for (const size_t i : trace_.probes.group_members(broken)) trace_.memory.switch_probe(i, false);
}

Status Installer::drop(const std::vector<const Patch*>& blocked, const std::string& reason) {
  const std::set<const Patch*> patches(blocked.begin(), blocked.end());
  const PatchTable& table = trace_.patches.table();
  return drop(trace_.patches.dependents_of(patches), [&](size_t edit) {
    return patches.contains(&table.patches[table.edits.edits()[edit].patch]) ? reason : kNeedsRefused;
  });
}

// Fibers that do not run may have been interrupted inside a window.
Status Installer::drop_parked(proc::Attachment& attachment, const std::vector<proc::Map>& maps,
                              const PatchIndex& index) {
  const bool opens = !trace_.stage.is_open();
  std::vector<AddrRange> places = index.disturbed_places();
  if (opens) {
    const std::vector<AddrRange> calls = trace_.calls.call_instructions();
    places.insert(places.end(), calls.begin(), calls.end());
  }
  if (places.empty() || !may_park_code(trace_.memory.parking(), attachment, trace_.target, maps)) return {};
  TRY(const ParkedCode parked, find_parked_code(trace_.target, maps, merge_ranges(std::move(places)),
                                                [&] { return attachment.must_let_go(); }));
  std::vector<const Patch*> found;
  for (const InterruptedCode& code : parked.found)
    if (const Patch* patch = index.disturbed_at(code.pc)) found.push_back(patch);
  if (opens) trace_.calls.note_parked(parked);
  if (!found.empty())
    return drop(found, "a fiber, or what looks like one, is inside the bytes to be replaced");
  if (!parked.unknown) return {};
  for (const Patch& patch : trace_.patches.table().patches)
    if (patch.active && patch.fresh && (patch.heads.size() > 1 || patch.springboard != TargetAddr()))
      found.push_back(&patch);
  return drop(found,
              "the program switches stacks by itself, and has too much memory to look for code that waits "
              "inside the bytes to be replaced");
}

Status Installer::drop(const TextReport& text) {
  const PatchTable& table = trace_.patches.table();
  EditMask edits(table.edits.size());
  for (size_t i : text.left) edits[i] = true;
  for (size_t i : text.foreign) edits[i] = true;
  for (size_t i = 0; i < edits.size(); ++i)
    if (edits[i] && table.patches[table.edits.edits()[i].patch].sets_action && trace_.traps.any_in(table))
      return Error(ErrorKind::kBusy, fmt::format("another tool watches the signal actions of process {}",
                                                 trace_.process.pid()));
  return drop(edits, [&](size_t edit) {
    return std::find(text.foreign.begin(), text.foreign.end(), edit) != text.foreign.end()
               ? why_foreign(table.edits.edits()[edit])
               : kNeedsRefused;
  });
}

Status Installer::drop(const EditMask& edits, const std::function<std::string(size_t edit)>& reason) {
  return trace_.patches.drop(edits, [&](const Patch& patch, size_t edit) -> Status {
    if (patch.job) trace_.report.refuse(*patch.job, reason(edit));
    trace_.calls.note_missing(patch);
    if (trace_.calls.guards_clone(patch) && trace_.facts.threads().rseq)
      return Error(ErrorKind::kBusy,
                   fmt::format("process {} is busy making children: try again", trace_.process.pid()));
    return {};
  });
}

std::string Installer::why_foreign(const Edit& edit) const {
  constexpr uint8_t kBreakpoint = 0xcc;
  std::array<uint8_t, abi::kMaxEdit> now{};
  const bool read = trace_.target.read(edit.addr, std::span(now).first(edit.size)).has_value();
  for (size_t i = 0; read && i < edit.size; ++i)
    if (now[i] == kBreakpoint && edit.original[i] != kBreakpoint)
      return "a breakpoint stands there: a debugger's, or a uprobe of the kernel";
  return "the code in memory differs from the file";
}

}  // namespace blip::probe
