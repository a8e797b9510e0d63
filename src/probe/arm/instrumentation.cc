// SPDX-License-Identifier: MIT
// The order of things, and why a blip killed between any two of them leaves a target that runs on:
//
//   stop one thread    map data, gate page, pads; their contents are nobody's yet
//   target runs        header, pads and site table are written through blip's own mappings
//   target runs        page tables of what the first hits need are filled, from outside
//   stop all threads   gate opened, PCs inside windows moved to their copies, then jumps written page by page
//   target runs        traced; no ptrace attachment exists. The rest of the rings gets its memory
//
// What is added later comes in a memfd of its own: the pads before it are never rewritten, because threads may
// be in them.
#include "probe/arm/instrumentation.h"

#include <fmt/core.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <thread>

#include "base/give_back.h"
#include "base/stop.h"
#include "probe/arm/installer.h"
#include "probe/inject/empty_rings.h"
#include "probe/inject/text.h"
#include "probe/inject/thread_facts.h"
#include "probe/inject/threads.h"
#include "proc/attachment.h"
#include "proc/files/cpu.h"
#include "proc/pause.h"
#include "proc/remote_call.h"
#include "proc/tracer_thread.h"

namespace blip::probe {

using Stage = ArmingStage::Stage;

namespace {

constexpr uint32_t kSharedRingBesideOthers = 4 << 20;
constexpr uint32_t kEditsPerSpareProbe = 2;    // a site with a springboard
constexpr uint64_t kRegisterBarrier = 1 << 8;  // MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ
constexpr size_t kTscAnswer = offsetof(abi::DataHeader, region_size);

// Also with somebody's breakpoint on its first byte.
PatchSet::IsInText jumps_in(const proc::Memory& memory) {
  return [&memory](const Edit& edit) {
    std::array<uint8_t, abi::kMaxEdit> now{};
    const std::span<uint8_t> bytes(now.data(), edit.size);
    if (!memory.read(edit.addr, bytes)) return false;
    const size_t skipped = edit.size > 1 ? 1 : 0;
    return std::equal(bytes.begin() + skipped, bytes.end(), edit.changed.begin() + skipped);
  };
}

}  // namespace

Instrumentation::Instrumentation(const proc::Process& process, proc::Memory& memory,
                                 std::span<const Module> modules, std::vector<Probe> probes,
                                 const ArmOptions& options)
    : process_(process),
      target_(memory),
      modules_(modules),
      restorer_(process),
      memory_(process, memory, modules, options),
      probes_(std::move(probes), {.count = options.spare_probes, .asks_kernel = options.spares_ask_kernel}),
      calls_(process, modules, options.modules_complete),
      traps_(process, memory),
      facts_(options, probes_, calls_, memory_),
      stops_(process, memory, options.max_pause, report_) {
  for (const Module& module : modules)
    if (!module.is_executable()) patches_.add_library(module.extent());
}

Result<std::unique_ptr<Instrumentation>> Instrumentation::arm(const proc::Process& process,
                                                              proc::Memory& memory,
                                                              std::span<const Module> modules,
                                                              ModuleSites sites, std::vector<Probe> probes,
                                                              const ArmOptions& options) {
  std::unique_ptr<Instrumentation> self(
      new Instrumentation(process, memory, modules, std::move(probes), options));
  auto status = proc::on_tracer_thread([&] { return self->run(std::move(sites)); });
  if (!status) return status.error();  // the destructor takes back what was done
  return self;
}

Instrumentation::~Instrumentation() {
  if (!stage_.is_in_target()) return;
  if (stage_.is_touched()) {
    (void)disarm();
  } else {
    (void)proc::on_tracer_thread([&] { return unmap_untouched(); });
  }
}

// Nobody has been led into the pads: no need to stop more than the thread that unmaps them.
Status Instrumentation::unmap_untouched() {
  stage_.enter(Stage::kRemoved);
  const Stops::RemoteWork unmap = [&](proc::Attachment&, proc::RemoteCaller& caller, auto) {
    return unmap_footprint(caller, memory_.footprint());
  };
  Status done = stops_.with_one(unmap);
  if (done || !proc::is_pause_exceeded(done.error())) return done;
  stops_.lift_limit();  // nothing may stay behind
  return stops_.with_one(unmap);
}

Status Instrumentation::choose_clock() {
  TRY(const bool monotonic, facts_.find_clock(process_, target_, modules_));
  if (monotonic)
    report_.notes.push_back(
        fmt::format("times come from CLOCK_MONOTONIC, by {}: all events use the shared ring",
                    facts_.uses_vdso_clock() ? "the vDSO" : "a system call"));
  return {};
}

Status Instrumentation::run(ModuleSites sites) {
  abi::Geometry geometry = memory_.geometry();
  const auto plan = [&] { memory_.set_geometry(geometry); };
  TRY(geometry.ring_count, proc::possible_cpus());
  TRY_OK(choose_clock());
  calls_.find_clones();
  geometry.probe_count = static_cast<uint32_t>(probes_.count()) + probes_.spare().count;
  traps_.plan(modules_, sites);
  geometry.ranges = calls_.plan_ranges(geometry.ranges);
  plan();
  if (!geometry.ranges && !facts_.forbids_calls()) calls_.plan_filters();
  TRY_OK(stop::check());
  std::vector<x86::SyscallSite> watched;
  for (const auto& some : {calls_.clones(), traps_.action_sites(), calls_.calls()})
    watched.insert(watched.end(), some.begin(), some.end());
  for (const Module& module : modules_) module.release_pages();  // all code was looked at, for system calls
  Batch& batch = batches_.emplace_back(modules_, std::move(sites), probes_.fresh(), std::move(watched),
                                       facts_.environment());
  refuse_returns(batch);
  traps_.refuse_planned(batch);
  geometry.site_count =
      static_cast<uint32_t>(batch.max_edits()) + kEditsPerSpareProbe * probes_.spare().count;
  plan();
  TRY_OK(map_memory());
  TRY_OK(memory_.allocate(batch));
  TRY_OK(memory_.fill_tables());
  TRY_OK(build());
  memory_.populate();
  TRY_OK(stop::check());
  TRY_OK(install({}));
  memory_.fill_rings();
  settle();
  return {};
}

// What programs do is in their pads now; that they are many is where the memory went.
void Instrumentation::settle() {
  probes_.settle();
  batches_.back().settle();
  give_back_memory();
}

Status Instrumentation::map_memory() {
  const auto tid_hint = find_tid_hint(modules_, target_);
  const PrivateSizes sizes{.traps = traps_.memory_size(batches_.back()), .shadow = facts_.shadow_size()};
  bool again = false;
  return stops_.with_one([&](proc::Attachment& attachment, proc::RemoteCaller& caller,
                             std::span<const proc::Map> maps) -> Status {
    // An attempt that signals broke off may not have been able to clean up after itself.
    if (std::exchange(again, true)) TRY_OK(memory_.discard(caller));
    if (caller.restricted())
      return Error(
          ErrorKind::kUnsupported,
          fmt::format("process {} runs under a seccomp filter: blip needs root to trace it", process_.pid()));
    facts_.set_threads(find_thread_facts(attachment, target_, process_.ns_pid(), tid_hint));
    if (calls_.unseen_children()) facts_.give_up_rseq();
    size_shared_ring();
    AlsoCalled asked;
    std::optional<size_t> tsc, barrier;
    asked.add = [&](proc::CallList& list, TargetAddr control) {
      if (facts_.uses_tsc()) tsc = list.add(SYS_prctl, PR_GET_TSC, (control + kTscAnswer).value);
      if (facts_.threads().rseq && no_ranges().empty())
        barrier = list.add(SYS_membarrier, kRegisterBarrier, 0, 0);
    };
    TRY_OK(memory_.map(caller, maps, batches_.back(), sizes, asked));
    stage_.enter(Stage::kMapped);
    restorer_.include(sharers());
    if (!facts_.threads().rseq)
      calls_.note_no_sequences();
    else if (!barrier || !asked.made.result(*barrier))
      calls_.note_no_barrier();
    return tsc && asked.made.result(*tsc) ? check_tsc() : Status();
  });
}

// All of its slots have to be written before the first hit. Where threads have rings of their own it takes
// only what cannot use those: what comes before libc has registered them, children of vfork, interrupted
// hits.
void Instrumentation::size_shared_ring() {
  abi::Geometry geometry = memory_.geometry();
  if (!facts_.has_own_rings() || geometry.slot_size == 0) return;
  geometry.slot_count = std::min(geometry.slot_count, kSharedRingBesideOthers / geometry.slot_size);
  memory_.set_geometry(geometry);
}

// Where the TSC is forbidden (PR_SET_TSC) reading it is a SIGSEGV. Threads inherit it, so that one is asked
// for all. The answer goes to memory that has no contents yet, but not over the magic number: who finds it
// without one knows that nothing is armed.
Status Instrumentation::check_tsc() const {
  int state = PR_TSC_ENABLE;
  std::memcpy(&state, region() + kTscAnswer, sizeof state);
  if (state != PR_TSC_SIGSEGV) return {};
  return Error(
      ErrorKind::kUnsupported,
      fmt::format("process {} may not read the CPU's cycle counter (PR_SET_TSC): an event or a measured call "
                  "would kill it. `blip count --function` works",
                  process_.pid()));
}

// All that the first batch has in the target, as often as it takes.
Status Instrumentation::build() {
  const jit::Environment env = facts_.environment();
  TRY_OK(memory_.write_header(env, facts_.unannounced_gate()));
  memory_.prepare_stacks(env);
  memory_.clear_sites();
  TRY(MadePatches made, build_pads(batches_.back(), modules_));
  patches_.replace(std::move(made.table));
  calls_.note_unpatched(patches_.table());
  stage_.enter(Stage::kBuilt);
  return {};
}

// The text is not changed yet.
Result<MadePatches> Instrumentation::build_pads(const Batch& batch, std::span<const Module> modules) {
  TRY(MadePatches made, batch.build(memory_.newest_pads(), modules, probes_.fresh(), facts_.environment(),
                                    facts_.threads().shadow_stack));
  for (const auto& [job, reason] : made.refused) report_.refuse(batch.jobs()[job], reason);
  traps_.use_code(made);
  memory_.put_sites(made.table.edits.edits());
  return made;
}

// In one stop, unless somebody is in the way, or --max-pause makes it several.
Status Instrumentation::install(std::span<const proc::Map> mapped) {
  return Installer({.process = process_,
                    .memory = target_,
                    .trace_memory = memory_,
                    .probes = probes_,
                    .patches = patches_,
                    .calls = calls_,
                    .traps = traps_,
                    .facts = facts_,
                    .stops = stops_,
                    .stage = stage_,
                    .report = report_},
                   mapped, [&] { return build(); })
      .run();
}

Status Instrumentation::check_room(size_t probes) const {
  if (probe_count() + probes > geometry().probe_count)
    return Error(ErrorKind::kUnsupported,
                 fmt::format("no more than {} probes were provided for in this trace: {} are used and {} "
                             "more are needed; give a larger --max-probes",
                             geometry().probe_count, probe_count(), probes));
  if (!memory_.has_room_for_pads())
    return Error(ErrorKind::kUnsupported, "probes were added to this trace too many times");
  return {};
}

Status Instrumentation::add(std::span<const proc::Map> mapped, std::span<const Module> modules,
                            ModuleSites sites, std::vector<Probe> probes) {
  TRY_OK(check_room(probes.size()));
  const size_t first = probes_.count();
  probes_.add(std::move(probes));
  if (!mapped.empty())
    for (const Module& module : modules) patches_.add_library(module.extent());
  report_.last_paused = {};
  auto status = proc::on_tracer_thread([&] { return add_batch(mapped, modules, std::move(sites)); });
  settle();
  if (status) return {};
  for (size_t i = first; i < probes_.count(); ++i) report_.refused.emplace_back(i, status.error().message());
  patches_.note_all_written();  // not to be tried again, but to be restored
  return status;
}

Status Instrumentation::add_batch(std::span<const proc::Map> mapped, std::span<const Module> modules,
                                  ModuleSites sites) {
  Batch& batch = batches_.emplace_back(modules, std::move(sites), probes_.fresh(),
                                       std::vector<x86::SyscallSite>(), facts_.environment());
  TRY_OK(memory_.check_site_room(batch));
  TRY_OK(memory_.allocate_more(batch, probes_.classes()));
  for (size_t i = 0; i < batch.jobs().size(); ++i)
    if (patches_.conflicts_with(batch.jobs()[i].site->rewrite))
      batch.refuse(i, "a probe in this trace has, or had, to do with the same bytes");
  refuse_returns(batch);
  TrapSupport::refuse_all(batch, "traps cannot be added to a trace that runs");
  TRY_OK(stops_.with_one([&](proc::Attachment&, proc::RemoteCaller& caller, std::span<const proc::Map> maps) {
    return memory_.map_pads(caller, maps, batch);
  }));
  memory_.tell_pads();
  TRY(MadePatches made, build_pads(batch, modules));
  patches_.add(std::move(made.table));
  return install(mapped);
}

// A thread in a pad of an earlier trace comes back behind the window of that one: not into the middle of a
// jump.
void Instrumentation::refuse_returns(Batch& batch) const {
  const KeptMemory& kept = memory_.kept();
  if (kept.returns.empty()) return;
  for (size_t i = 0; i < batch.jobs().size(); ++i) {
    const x86::Rewrite& r = batch.jobs()[i].site->rewrite;
    const TargetAddr board = r.springboard;
    const bool sprung = board != TargetAddr() && kept.returns_into({board, board + abi::kJumpSize});
    if (sprung || kept.returns_into({r.start, r.end()}))
      batch.refuse(i, "somebody is still inside a probe that an earlier blip had at the same bytes");
  }
}

Status Instrumentation::remove(size_t index) {
  switch_probe(index, false);
  probes_.remove(index);
  const auto patch = patches_.find_unneeded(index, probes_.removed());
  // The clone pad that its own pad goes on in is reached only through this site.
  if (!patch || calls_.goes_on_in(patches_.table().patches[*patch].job->site->rewrite)) return {};
  return proc::on_tracer_thread([&]() -> Status {
    for (int i = 0; i < kStopTries; ++i) {
      const auto done = proc::on_tracer_thread([&] { return restore(*patch); });
      if (!done && !proc::is_pause_exceeded(done.error())) return done.error();
      if (done && *done) {
        patches_.retire(*patch);
        return {};
      }
      std::this_thread::sleep_for(kBetweenTries);
    }
    return {};  // it stays, switched off
  });
}

// False: not now, or not ours any more.
Result<bool> Instrumentation::restore(size_t number) {
  const PatchTable& table = patches_.table();
  const PatchIndex index(table);
  return stops_.with_all([&](proc::Attachment& attachment) -> Result<bool> {
    if (target_.mm_gone())
      return Error(ErrorKind::kGone, fmt::format("process {} called exec", process_.pid()));
    TRY(const std::vector<proc::Map> maps, proc::read_maps(process_.pid()));
    TRY(const std::vector<TargetAddr> held, leave_springboards(attachment, target_, maps, index));
    if (std::find(held.begin(), held.end(), table.patches[number].springboard) != held.end()) return false;
    TRY(const TextReport text, restore_text(target_, table.edits, patches_.edits_of(number)));
    return text.foreign.empty();
  });
}

Status Instrumentation::revive(AddrRange library, const void* file, std::span<const proc::Map> mapped) {
  if (!patches_.revive(library, file)) return {};
  report_.last_paused = {};
  Status status = proc::on_tracer_thread([&] { return install(mapped); });
  patches_.note_all_written();
  return status;
}

bool Instrumentation::is_patched(AddrRange library) const {
  return patches_.is_patched(library, jumps_in(target_));
}

Result<RemovalReport> Instrumentation::disarm() {
  stage_.enter(Stage::kRemoved);
  memory_.stop_filling();
  return remove_from(process_, target_, false);
}

Result<RemovalReport> Instrumentation::disarm_child(const proc::Process& child, proc::Memory& memory) {
  return remove_from(child, memory, true);
}

void Instrumentation::target_is_gone() {
  stage_.enter(Stage::kRemoved);
  if (facts_.has_shadow()) open_calls_.know_nothing();
}

Result<RemovalReport> Instrumentation::remove_from(const proc::Process& process, proc::Memory& memory,
                                                   bool is_child) {
  const PatchSet::IsInText is_in_text = jumps_in(memory);
  const std::optional<PatchTable> some = patches_.without_absent(is_in_text);
  const std::vector<PatchTable> retired =
      is_child ? patches_.retired_in_child(is_in_text) : patches_.retired();
  std::optional<OpenCalls> open;
  const auto look = [&]() -> Status {
    if (facts_.has_shadow())
      open = OpenCalls::read(memory, facts_.environment().shadow(), geometry().class_count);
    return {};
  };
  RemovalSteps steps{.before_unmap = look};
  if (!is_child && are_rings_large(geometry())) steps.give_back = [&] { memory_.empty_rings(); };
  auto report = remove_instrumentation(process, memory, memory_.footprint(), some ? *some : patches_.table(),
                                       retired, steps, stops_.max_pause());
  if (report && report->kept) (void)look();
  if (open) open_calls_ += *open;
  if (facts_.has_shadow() && !open) open_calls_.know_nothing();
  return report;
}

}  // namespace blip::probe
