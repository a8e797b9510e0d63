// SPDX-License-Identifier: MIT
// The order of things, and why a blip killed between any two of them leaves a target that runs on:
//
//   stop one thread    map data, gate page, pads; their contents are nobody's yet
//   target runs        header, pads and site table are written through blip's own mappings
//   target runs        page tables of what the first hits need are filled, from outside
//   stop all threads   gate opened, PCs inside windows moved to their copies, then jumps written page by page
//   target runs        traced; no ptrace attachment exists. The rest of the rings gets its memory
#include "probe/arm/instrumentation.h"

#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <thread>
#include <utility>

#include "abi/shadow.h"
#include "base/bytes_of.h"
#include "base/give_back.h"
#include "base/page.h"
#include "base/stop.h"
#include "jit/program/hit_needs.h"
#include "jit/stubs.h"
#include "probe/inject/left_region.h"
#include "probe/inject/parked_code.h"
#include "probe/inject/pause_tries.h"
#include "probe/inject/target_clock.h"
#include "probe/inject/text.h"
#include "probe/inject/threads.h"
#include "probe/inject/trap_action.h"
#include "proc/attachment.h"
#include "proc/files/cpu.h"
#include "proc/files/status.h"
#include "proc/pause.h"
#include "proc/remote_call.h"
#include "proc/target_memory.h"
#include "proc/tracer_thread.h"
#include "ring/format.h"
#include "ring/system_calls.h"

namespace blip::probe {

using Stage = ArmingStage::Stage;

namespace {

constexpr uint32_t kSharedRingBesideOthers = 4 << 20;
constexpr uint32_t kEditsPerSpareProbe = 2;    // a site with a springboard
constexpr uint64_t kMostHistograms = 4 << 20;  // bytes that are in the target's page tables from the start
constexpr uint64_t kRegisterBarrier = 1 << 8;  // MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ
constexpr size_t kTscAnswer = offsetof(abi::DataHeader, region_size);

}  // namespace

Instrumentation::Instrumentation(const proc::Process& process, proc::Memory& memory,
                                 std::span<const Module> modules, std::vector<Probe> probes,
                                 const ArmOptions& options)
    : process_(process),
      memory_(memory),
      restorer_(process),
      modules_(modules),
      probes_(std::move(probes)),
      geometry_(options.geometry),
      calls_(process, modules, options.modules_complete),
      traps_(process, memory),
      stops_(process, memory, options.max_pause, report_),
      follow_fork_(options.follow_fork),
      monotonic_clock_(options.monotonic_clock),
      spare_probes_(options.spare_probes),
      live_classes_(std::min(options.live_classes, options.geometry.class_count)),
      spares_ask_kernel_(options.spares_ask_kernel),
      returns_(options.returns),
      unwind_(options.unwind),
      keeps_values_(options.keeps_values),
      births_(options.births),
      parking_(parking_of(modules)),
      schema_(options.schema),
      kept_(options.kept) {
  for (const Module& module : modules)
    if (!module.is_executable()) libraries_.push_back(module.extent());
}

Result<std::unique_ptr<Instrumentation>> Instrumentation::arm(const proc::Process& process,
                                                              proc::Memory& memory,
                                                              std::span<const Module> modules,
                                                              ModuleSites sites, std::vector<Probe> probes,
                                                              const ArmOptions& options) {
  std::unique_ptr<Instrumentation> self(
      new Instrumentation(process, memory, modules, std::move(probes), options));
  TRY(self->geometry_.ring_count, proc::possible_cpus());
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
    return unmap_footprint(caller, footprint());
  };
  Status done = stops_.with_one(unmap);
  if (done || !proc::is_pause_exceeded(done.error())) return done;
  stops_.lift_limit();  // nothing may stay behind
  return stops_.with_one(unmap);
}

void Instrumentation::switch_probe(size_t index, bool on) {
  uint8_t* const byte = region() + geometry_.switches_offset() + index;
  __atomic_store_n(byte, on ? abi::kSwitchOn : abi::kSwitchOff, __ATOMIC_RELAXED);
}

Result<RemovalReport> Instrumentation::disarm() {
  stage_.enter(Stage::kRemoved);
  if (filler_) filler_->stop();
  return remove_from(process_, memory_, false);
}

Result<RemovalReport> Instrumentation::disarm_child(const proc::Process& child, proc::Memory& memory) {
  return remove_from(child, memory, true);
}

Footprint Instrumentation::footprint() const {
  Footprint f{.control = region_.control,
              .data_size = region_.data.size(),
              .trap_size = region_.trap_size,
              .shadow_size = region_.shadow_size};
  f.parking = parking_;
  for (const PadFile& file : region_.pad_files) {
    for (const AreaMapping& area : file.areas) f.areas.push_back(area.range);
    for (const TrampolineRun& run : file.trampolines.runs) f.areas.push_back(run.pages);
  }
  f.areas = merge_ranges(std::move(f.areas));
  return f;
}

std::vector<AddrRange> Instrumentation::pads() const {
  std::vector<AddrRange> all;
  for (const PadFile& file : region_.pad_files) {
    if (&file == region_.tables()) continue;
    for (const AreaMapping& area : file.areas) all.push_back(area.range);
    for (const TrampolineRun& run : file.trampolines.runs) all.push_back(run.pages);
  }
  return merge_ranges(std::move(all));
}

Status Instrumentation::choose_clock() {
  if (!monotonic_clock_) return {};
  TRY(clock_, find_monotonic_clock(process_, memory_, modules_));
  report_.notes.push_back(
      fmt::format("times come from CLOCK_MONOTONIC, by {}: all events use the shared ring",
                  clock_->clock_gettime == TargetAddr() ? "a system call" : "the vDSO"));
  return {};
}

Status Instrumentation::run(ModuleSites sites) {
  TRY_OK(choose_clock());
  calls_.find_clones();
  geometry_.probe_count = static_cast<uint32_t>(probes_.size()) + spare_probes_;
  for (size_t i = 0; i < probes_.size(); ++i) probes_[i].program.switch_index = static_cast<uint32_t>(i);
  traps_.plan(modules_, sites);
  geometry_.ranges = calls_.plan_ranges(geometry_.ranges);
  if (!geometry_.ranges && !forbids_calls()) calls_.plan_filters();
  TRY_OK(stop::check());
  std::vector<x86::SyscallSite> watched;
  for (const auto& some : {calls_.clones(), traps_.action_sites(), calls_.calls()})
    watched.insert(watched.end(), some.begin(), some.end());
  for (const Module& module : modules_) module.release_pages();  // all code was looked at, for system calls
  batches_.emplace_back(modules_, std::move(sites), probes(), std::move(watched), environment());
  refuse_returns(batches_.back());
  traps_.refuse_planned(batches_.back());
  geometry_.site_count =
      static_cast<uint32_t>(batches_.back().max_edits()) + kEditsPerSpareProbe * spare_probes_;
  TRY_OK(map_memory());
  TRY(online_, proc::online_cpus());
  room_ = ring::first_room(geometry_, online_.size());
  live_ = live_parts(geometry_, room_, online_, live_classes_);
  TRY_OK(allocate(batches_.back().max_edits()));
  TRY_OK(fill_tables());
  TRY_OK(build());
  populate();
  TRY_OK(stop::check());
  TRY_OK(patch_patiently());
  fill_rings();
  settle();
  return {};
}

// What programs do is in their pads now; that they are many is where the memory went.
void Instrumentation::settle() {
  settled_ask_kernel_ = asks_kernel();
  for (const Probe& probe : probes_) recorded_ |= jit::recorded_by(probe.program);
  settled_ += probes_.size();
  free_contents(probes_);
  batches_.back().settle();
  give_back_memory();
}

// In one stop, unless somebody is in the way, or --max-pause makes it several.
Status Instrumentation::patch_patiently() {
  PauseTries pauses;
  written_.assign(table_.edits.size(), false);
  if (stops_.max_pause()) switch_groups(false);
  for (int i = 1;;) {
    const size_t before = fresh_edits();
    const auto done = proc::on_tracer_thread([&] { return patch(i == kStopTries); });
    if (!done && !proc::is_pause_exceeded(done.error())) return done.error();
    if (done && *done == Patched::kAll) break;
    if (done && *done == Patched::kBlocked) {
      ++i;
      std::this_thread::sleep_for(kBetweenTries);
      continue;
    }
    if (fresh_edits() < before) pauses.got_on();
    if (!stage_.is_open()) TRY_OK(stop::check());
    if (!stop::requested() && pauses.again()) continue;
    TRY_OK(give_up_for_pause(pauses.tries()));
    break;
  }
  if (stops_.max_pause()) switch_groups(true);
  switch_off_broken_groups();
  return {};
}

Status Instrumentation::map_memory() {
  const auto tid_hint = find_tid_hint(modules_, memory_);
  const uint64_t trap_size = traps_.memory_size(batches_.back());
  bool again = false;
  return stops_.with_one([&](proc::Attachment& attachment, proc::RemoteCaller& caller,
                             std::span<const proc::Map> maps) -> Status {
    // An attempt that signals broke off may not have been able to clean up after itself.
    if (std::exchange(again, true)) TRY_OK(discard_unarmed(caller, process_, memory_, kept_));
    if (caller.restricted())
      return Error(
          ErrorKind::kUnsupported,
          fmt::format("process {} runs under a seccomp filter: blip needs root to trace it", process_.pid()));
    facts_ = find_thread_facts(attachment, memory_, process_.ns_pid(), tid_hint);
    if (calls_.unseen_children()) facts_.rseq.reset();
    size_shared_ring();
    AlsoCalled asked;
    std::optional<size_t> tsc, barrier;
    asked.add = [&](proc::CallList& list, TargetAddr control) {
      if (uses_tsc()) tsc = list.add(SYS_prctl, PR_GET_TSC, (control + kTscAnswer).value);
      if (facts_.rseq && no_ranges().empty()) barrier = list.add(SYS_membarrier, kRegisterBarrier, 0, 0);
    };
    TRY(region_,
        TargetRegion::map(caller, process_, maps, geometry_, batches_.back().neighbourhoods(),
                          batches_.back().trampolines(), {.traps = trap_size, .shadow = shadow_size()},
                          {.bytes = unwind_.size}, asked));
    stage_.enter(Stage::kMapped);
    sharers_ = MemorySharers(process_.pid(), region_.data_fd);
    restorer_.include(sharers_);
    if (!facts_.rseq)
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
  if (!facts_.rseq || clock_ || geometry_.slot_size == 0) return;
  geometry_.slot_count = std::min(geometry_.slot_count, kSharedRingBesideOthers / geometry_.slot_size);
}

// Records carry a time, also that of the vDSO's clock, which reads the TSC; those of who only counts do not.
bool Instrumentation::uses_tsc() const { return geometry_.slot_size != 0 || returns_; }

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

jit::Environment Instrumentation::environment() const {
  jit::Recorded recorded = recorded_;
  for (const Probe& probe : probes_) recorded |= jit::recorded_by(probe.program);
  return {.geometry = geometry_,
          .control = region_.control,
          .rseq = facts_.rseq,
          .tid_offset = facts_.tid_offset,
          .asks_kernel = asks_kernel(),
          .collects = collects(),
          .no_syscalls = !no_calls().empty(),
          .follow_fork = follow_fork_,
          .monotonic = clock_,
          .births = births_,
          .recorded = recorded,
          .trap_size = region_.trap_size,
          .unwind = region_.has_tables ? region_.tables()->areas.front().range.begin : TargetAddr(),
          .shadow_size = region_.shadow_size};
}

Status Instrumentation::fill_tables() {
  if (!region_.has_tables) return {};
  return unwind_.fill({.tables = region_.pad_files.front().bytes.bytes(),
                       .stacks = region_.control + geometry_.stacks_offset(),
                       .stacks_here = region_.data.bytes().subspan(geometry_.stacks_offset()),
                       .pads = pads()});
}

// How the walk reads; whether the kernel may be asked is said by the gate page below `control_addr`.
void Instrumentation::prepare_stacks() {
  if (!region_.has_tables) return;
  const std::vector<AreaMapping>& areas = region_.pad_files.back().areas;
  const auto first = jit::build_area_prologue(areas.front().range.begin, environment());
  auto* header = reinterpret_cast<abi::UnwindHeader*>(region_.pad_files.front().bytes.data());
  header->control_addr = region_.control.value;
  header->cache_addr = (region_.control + geometry_.rule_cache_offset()).value;
  header->safe_load_addr = first ? first->stubs.safe_load.value : 0;
}

Status Instrumentation::build() {
  TRY_OK(fill_header());
  prepare_stacks();
  const Batch& batch = batches_.back();
  TRY(MadePatches made,
      batch.build(region_.pad_files.back(), modules_, probes(), environment(), facts_.shadow_stack));
  site_table_ = SiteTable(
      {reinterpret_cast<abi::SiteEntry*>(region() + geometry_.sites_offset()), geometry_.site_count});
  table_ = {};
  take(batch, std::move(made));
  calls_.note_unpatched(table_);
  stage_.enter(Stage::kBuilt);
  return {};
}

// Into the tables; the text is not changed yet.
void Instrumentation::take(const Batch& batch, MadePatches made) {
  for (const auto& [job, reason] : made.refused) report_.refuse(batch.jobs()[job], reason);
  traps_.use_code(made);
  for (const Edit& edit : made.table.edits.edits()) site_table_.put(edit);
  if (table_.patches.empty()) {
    table_ = std::move(made.table);
  } else {
    table_.merge(std::move(made.table));
  }
}

// Not kGateOpen: whether restartable sequences are registered where the child looks for them is not known. It
// must ask for its pid, unless it only counts.
uint32_t Instrumentation::unannounced_gate() const {
  if (!follow_fork_) return abi::kGateIgnored;
  if (!no_calls().empty() && geometry_.slot_size != 0) return abi::kGateClosed;
  return abi::kGateOpen | abi::kGateChild;
}

Status Instrumentation::fill_header() {
  // Without it another blip would take this one for dead.
  TRY(const proc::ProcStat stat, proc::read_stat(::getpid(), ::getpid()).with_context("blip itself"));
  auto* header = reinterpret_cast<abi::DataHeader*>(region());
  header->owner_pid = ::getpid();
  header->owner_pid_namespace = own_pid_namespace();
  header->owner_start_time = stat.start_time;
  header->trap_size = region_.trap_size;
  header->unannounced_gate = unannounced_gate();
  header->shadow_size = region_.shadow_size;
  header->shadow_by_thread = facts_.rseq && !clock_;
  header->parking = static_cast<uint32_t>(parking_);
  write_schema(schema_);
  header->pad_file_count = static_cast<uint32_t>(region_.pad_files.size());
  for (size_t i = 0; i < region_.pad_files.size(); ++i) header->pad_files[i] = region_.pad_files[i].inode;
  // Its last store is the magic number: who finds that finds the rest.
  ring::format_region(geometry_, region(), region_.control.value);
  start_rings();
  return {};
}

void Instrumentation::start_rings() {
  auto* controls = reinterpret_cast<abi::RingControl*>(region() + abi::kRingControlsOffset);
  for (const unsigned cpu : online_) ring::start_with(room_, geometry_, process_.ns_pid(), controls[cpu]);
}

bool Instrumentation::write_schema(std::string_view text) {
  if (text.size() > geometry_.schema_size) return false;
  auto* header = reinterpret_cast<abi::DataHeader*>(region());
  __atomic_store_n(&header->schema_size, 0, __ATOMIC_RELEASE);
  std::memcpy(region() + geometry_.schema_offset(), text.data(), text.size());
  __atomic_store_n(&header->schema_size, text.size(), __ATOMIC_RELEASE);
  return true;
}

uint64_t Instrumentation::shadow_size() const {
  if (!returns_) return 0;
  return abi::kShadowSize + (keeps_values_ ? abi::kKeptSize : 0);
}

// For the thread's id, to read memory, or to wait for blip. A system call that nobody wants might displease a
// filter that comes later.
bool Instrumentation::asks_kernel() const {
  if (geometry_.ranges || births_ || settled_ask_kernel_ || (spare_probes_ != 0 && spares_ask_kernel_))
    return true;
  return std::any_of(probes_.begin(), probes_.end(), [](const Probe& probe) {
    if (jit::asks_kernel(probe.program.hit) || probe.program.stack_at != 0 ||
        probe.program.kind == jit::Program::Kind::kTellLibraries)
      return true;
    return std::any_of(probe.program.fields.begin(), probe.program.fields.end(), [](const jit::Field& f) {
      return f.capture == jit::Capture::kTid || f.capture == jit::Capture::kThreadKey;
    });
  });
}

bool Instrumentation::collects() const {
  return (spare_probes_ != 0 && spares_ask_kernel_) ||
         std::any_of(probes_.begin(), probes_.end(),
                     [](const Probe& probe) { return jit::collects(probe.program.hit); });
}

// The gate page is private memory of the target: written from outside. What children of forks find when
// theirs is wiped may have changed since the header was filled.
Status Instrumentation::write_gate(uint32_t gate) {
  const abi::GatePage page{.gate = gate,
                           .pid = process_.ns_pid(),
                           .tid_offset = facts_.tid_offset.value_or(abi::kNoTidOffset),
                           .no_syscalls = forbids_calls(),
                           .calls = 0,
                           .own_ranges = no_ranges().empty() && !forbids_calls()};
  auto* header = reinterpret_cast<abi::DataHeader*>(region());
  const uint32_t filtered = !no_calls().empty() ? ring::kFiltered : asks_kernel() ? 0 : ring::kCallsUnwanted;
  __atomic_store_n(&header->filtered, filtered, __ATOMIC_SEQ_CST);
  __atomic_store_n(&header->unannounced_gate, unannounced_gate(), __ATOMIC_RELAXED);
  return memory_.write(region_.control - abi::kGatePageSize, bytes_of(page));
}

// The site table is blip's own, and gets memory as it fills.
Status Instrumentation::allocate(size_t edits) {
  std::vector<RegionPart> parts = live_;
  if (edits != 0) parts.push_back({geometry_.sites_offset(), edits * sizeof(abi::SiteEntry)});
  if (geometry_.schema_size != 0) parts.push_back({geometry_.schema_offset(), geometry_.schema_size});
  return region_.allocate(parts);
}

// So that the first pads do not fault. Of many histograms most are never used: their pages would only have to
// be taken away again, in a stop.
void Instrumentation::populate() {
  const uint64_t histograms = (geometry_.ring_count + uint64_t{1}) * geometry_.latency_row_size();
  const uint64_t end = histograms > kMostHistograms ? geometry_.latencies_offset() : geometry_.region_size();
  for (const RegionPart& part : live_)
    if (part.offset < end)
      fault_in(memory_,
               {region_.control + part.offset, region_.control + std::min(part.offset + part.size, end)});
}

// The rest of the rings: the target does not wait for it.
void Instrumentation::fill_rings() {
  if (room_.end == geometry_.ring_size()) return;
  const RegionView view{.fd = region_.data_fd.get(), .here = region(), .there = region_.control};
  filler_ = std::make_unique<RingFiller>(geometry_, room_, online_, view, memory_);
}

}  // namespace blip::probe
