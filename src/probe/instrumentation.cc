// SPDX-License-Identifier: MIT
// The order of things, and why a blip killed between any two of them leaves a target that runs on:
//
//   stop one thread    map data, gate page, pads; their contents are nobody's yet
//   target runs        header, pads and site table are written through blip's own mappings
//   stop one thread    page tables filled, so that pads do not fault
//   stop all threads   gate opened, PCs inside windows moved to their copies, then jumps written, page by
//   page target runs        traced; no ptrace attachment exists
#include "probe/instrumentation.h"

#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <thread>
#include <utility>

#include "probe/leftovers.h"
#include "probe/target_clock.h"
#include "probe/text.h"
#include "probe/threads.h"
#include "proc/attachment.h"
#include "proc/cpu.h"
#include "proc/remote_call.h"
#include "proc/status.h"
#include "proc/target_memory.h"
#include "proc/tracer_thread.h"
#include "ring/format.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace blip::probe {

namespace {

constexpr int kPatchTries = 6;
constexpr std::chrono::milliseconds kPatchPause{2};
constexpr uint64_t kPopulatePiece = 64 << 20;

std::span<const uint8_t> bytes_of(const auto& value) {
  return {reinterpret_cast<const uint8_t*>(&value), sizeof value};
}

bool crosses_page(TargetAddr a, uint64_t size) {
  return a.value / abi::kPageSize != (a.value + size - 1) / abi::kPageSize;
}

}  // namespace

Instrumentation::Instrumentation(const proc::Process& process, proc::Memory& memory,
                                 std::span<const Module> modules, std::vector<Probe> probes,
                                 const ArmOptions& options)
    : process_(process),
      memory_(memory),
      modules_(modules),
      probes_(std::move(probes)),
      geometry_(options.geometry),
      follow_fork_(options.follow_fork),
      monotonic_clock_(options.monotonic_clock),
      unhooked_clone_(!options.modules_complete) {}

Result<std::unique_ptr<Instrumentation>> Instrumentation::arm(const proc::Process& process,
                                                              proc::Memory& memory,
                                                              std::span<const Module> modules,
                                                              std::vector<Probe> probes,
                                                              const ArmOptions& options) {
  std::unique_ptr<Instrumentation> self(
      new Instrumentation(process, memory, modules, std::move(probes), options));
  TRY(self->geometry_.ring_count, proc::possible_cpus());
  auto status = proc::on_tracer_thread([&] { return self->run(); });
  if (!status) return status.error();  // the destructor takes back what was done
  return self;
}

Instrumentation::~Instrumentation() {
  if (!armed_) return;
  if (touched_) {
    (void)disarm();
  } else {
    (void)proc::on_tracer_thread([&] { return unmap_untouched(); });
  }
}

// Nobody has been led into the pads: no need to stop more than the thread that unmaps them.
Status Instrumentation::unmap_untouched() {
  armed_ = false;
  return in_one_thread(
      [&](proc::Attachment&, proc::RemoteCaller& caller) { return unmap_footprint(caller, footprint()); });
}

// Stops one thread and runs `work` with it; another try if the thread was caught at a bad moment. All threads
// are stopped where a blip that was killed left its stub: one of them may be in it.
Status Instrumentation::in_one_thread(
    const std::function<Status(proc::Attachment&, proc::RemoteCaller&)>& work) {
  bool all = false;
  for (int i = 1;; ++i) {
    TRY(const std::vector<proc::Map> maps, proc::read_maps(process_.pid()));
    TRY(proc::StubSite stub, proc::find_stub_site(memory_, maps));
    TRY(proc::Attachment attachment,
        all ? proc::Attachment::stop_all(process_) : proc::Attachment::stop_one(process_));
    Status status;
    bool started = false;
    {
      auto caller = proc::RemoteCaller::create(attachment, memory_, std::move(stub));
      started = caller.has_value();
      status = caller ? work(attachment, *caller) : Status(caller.error());
    }
    attachment.release();
    note_pause(attachment.longest_stop());
    if (status || i == kPatchTries) return status;
    const bool busy = status.error().kind() == ErrorKind::kBusy;
    if (started && !busy) return status;
    all = all || busy;
    std::this_thread::sleep_for(kPatchPause);
  }
}

void Instrumentation::switch_probe(size_t index, bool on) {
  uint8_t* const byte = region() + geometry_.switches_offset() + index;
  __atomic_store_n(byte, on ? abi::kSwitchOn : abi::kSwitchOff, __ATOMIC_RELAXED);
}

Result<RemovalReport> Instrumentation::disarm() {
  armed_ = false;
  return remove_instrumentation(process_, memory_, footprint(), patches_);
}

Result<RemovalReport> Instrumentation::disarm_child(const proc::Process& child, proc::Memory& memory) const {
  return remove_instrumentation(child, memory, footprint(), patches_);
}

void Instrumentation::note_pause(std::chrono::nanoseconds paused) {
  report_.paused = std::max(report_.paused, paused);
}

Footprint Instrumentation::footprint() const {
  Footprint f{.control = region_.control, .data_size = region_.data.size()};
  for (const AreaMapping& area : region_.areas) f.areas.push_back(area.range);
  return f;
}

Status Instrumentation::choose_clock() {
  if (!monotonic_clock_) return {};
  TRY(clock_, find_monotonic_clock(process_, memory_, modules_));
  report_.notes.push_back(
      fmt::format("times come from CLOCK_MONOTONIC, by {}: all events use the shared ring",
                  clock_->clock_gettime == TargetAddr() ? "a system call" : "the vDSO"));
  return {};
}

Status Instrumentation::run() {
  TRY_OK(choose_clock());
  find_clone_sites();
  geometry_.site_count = static_cast<uint32_t>(probes_.size() + clone_sites_.size());
  geometry_.probe_count = static_cast<uint32_t>(probes_.size());
  for (size_t i = 0; i < probes_.size(); ++i) probes_[i].program.switch_index = static_cast<uint32_t>(i);
  neighbourhoods_ = group_sites(modules_, probes_, clone_sites_);
  if (neighbourhoods_.size() > abi::kMaxPadAreas)
    return Error(ErrorKind::kUnsupported, "the probed libraries are spread over too many places");
  TRY_OK(map_memory());
  TRY_OK(region_.allocate(geometry_));
  TRY_OK(build());
  TRY_OK(populate());
  for (int i = 1;; ++i) {
    TRY(const bool done, patch(i == kPatchTries));
    if (done) return {};
    std::this_thread::sleep_for(kPatchPause);
  }
}

void Instrumentation::find_clone_sites() {
  for (const Module& module : modules_) {
    if (module.file().is_go()) unhooked_clone_ = true;  // its vfork is not of the known form
    for (const elf::Segment& s : module.file().segments()) {
      if (!s.exec) continue;
      const auto sites = x86::find_clone_sites(module.file().bytes(s.range), module.to_target(s.range.begin));
      for (const x86::CloneSite& site : sites) {
        if (site.flags_dead_after && !crosses_page(site.addr, abi::kJumpSize)) {
          clone_sites_.push_back(site);
        } else {
          unhooked_clone_ = true;
        }
      }
    }
  }
}

Status Instrumentation::map_memory() {
  const auto tid_hint = find_tid_hint(modules_, memory_);
  bool again = false;
  return in_one_thread([&](proc::Attachment& attachment, proc::RemoteCaller& caller) -> Status {
    // An attempt that signals broke off may not have been able to clean up after itself.
    if (std::exchange(again, true)) TRY_OK(discard_unarmed(caller, process_));
    if (caller.restricted())
      return Error(
          ErrorKind::kUnsupported,
          fmt::format("process {} runs under a seccomp filter: blip needs root to trace it", process_.pid()));
    facts_ = find_thread_facts(attachment, memory_, process_.ns_pid(), tid_hint);
    if (unhooked_clone_) facts_.rseq.reset();
    TRY(region_, TargetRegion::map(caller, process_, geometry_, neighbourhoods_));
    armed_ = true;
    sharers_ = MemorySharers(process_.pid(), region_.data_fd);
    return {};
  });
}

Status Instrumentation::build() {
  fill_header();
  const jit::Environment env{.geometry = geometry_,
                             .control = region_.control,
                             .rseq = facts_.rseq,
                             .tid_offset = facts_.tid_offset,
                             .asks_tid = asks_tid(),
                             .no_syscalls = process_.seccomp_mode() != 0,
                             .follow_fork = follow_fork_,
                             .monotonic = clock_};
  patches_.clear();
  for (size_t i = 0; i < neighbourhoods_.size(); ++i) {
    const AreaMapping& area = region_.areas[i];
    TRY(BuiltArea built,
        build_area(area.range.begin, neighbourhoods_[i], probes_, clone_sites_, env, facts_.shadow_stack));
    std::memcpy(region_.pads.data() + area.offset, built.code.data(), built.code.size());
    patches_.insert(patches_.end(), std::make_move_iterator(built.patches.begin()),
                    std::make_move_iterator(built.patches.end()));
    for (auto& refusal : built.refused) report_.refused.push_back(std::move(refusal));
  }
  std::sort(patches_.begin(), patches_.end(), [](const Patch& a, const Patch& b) { return a.addr < b.addr; });
  auto* sites = reinterpret_cast<abi::SiteEntry*>(region() + geometry_.sites_offset());
  for (size_t i = 0; i < patches_.size(); ++i) {
    sites[i].addr = patches_[i].addr.value;
    sites[i].pad_addr = patches_[i].pad.value;
    std::copy(patches_[i].original.begin(), patches_[i].original.end(), sites[i].original);
  }
  reinterpret_cast<abi::DataHeader*>(region())->site_count = static_cast<uint32_t>(patches_.size());
  return {};
}

void Instrumentation::fill_header() {
  ring::format_region(geometry_, region(), region_.control.value);
  auto* header = reinterpret_cast<abi::DataHeader*>(region());
  header->owner_pid = ::getpid();
  header->owner_pid_namespace = own_pid_namespace();
  auto stat = proc::read_stat(::getpid(), ::getpid());
  header->owner_start_time = stat ? stat->start_time : 0;
  header->pad_area_count = static_cast<uint32_t>(region_.areas.size());
  for (size_t i = 0; i < region_.areas.size(); ++i)
    header->pad_areas[i] = {region_.areas[i].range.begin.value, region_.areas[i].range.size()};
}

// A system call for an id that nobody wants might displease a filter that comes later.
bool Instrumentation::asks_tid() const {
  return std::any_of(probes_.begin(), probes_.end(), [](const Probe& probe) {
    return std::any_of(probe.program.fields.begin(), probe.program.fields.end(), [](const jit::Field& f) {
      return f.capture == jit::Capture::kTid || f.capture == jit::Capture::kThreadKey;
    });
  });
}

// The gate page is private memory of the target: written from outside.
Status Instrumentation::write_gate(uint32_t gate) {
  const abi::GatePage page{.gate = gate,
                           .pid = process_.ns_pid(),
                           .tid_offset = facts_.tid_offset.value_or(abi::kNoTidOffset),
                           .no_syscalls = process_.seccomp_mode() != 0 || !asks_tid()};
  return memory_.write(region_.control - abi::kGatePageSize, bytes_of(page));
}

// Fills the page tables, so that pads do not fault; in pieces, because a remote call has a deadline.
Status Instrumentation::populate() {
  TRY(const std::vector<RegionPart> parts, live_parts(geometry_));
  for (const RegionPart& part : parts) {
    for (uint64_t done = 0; done < part.size; done += kPopulatePiece) {
      const TargetAddr begin = region_.control + part.offset + done;
      const uint64_t size = std::min(kPopulatePiece, part.size - done);
      bool known = true;
      TRY_OK(in_one_thread([&](proc::Attachment&, proc::RemoteCaller& caller) -> Status {
        known = proc::remote_madvise(caller, begin, size, MADV_POPULATE_WRITE).has_value();
        return {};
      }));
      if (!known) return {};  // kernels before 5.14: pads fault in each page once
    }
  }
  return {};
}

Result<bool> Instrumentation::patch(bool last_try) {
  TRY(proc::Attachment attachment, proc::Attachment::stop_all(process_));
  memory_.set_fallback_tid(attachment.threads().front().tid);
  auto done = patch_stopped(attachment, last_try);
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
Status Instrumentation::check_facts(proc::Attachment& attachment) {
  const auto hold = [&] {
    return facts_hold(attachment, memory_, process_.ns_pid(), facts_, geometry_.ring_count);
  };
  TRY(const bool intact, clone_sites_intact());
  if (hold() && (intact || !facts_.rseq)) return {};
  facts_ = find_thread_facts(attachment, memory_, process_.ns_pid(), facts_.tid_offset);
  if (unhooked_clone_ || !intact || !hold()) facts_.rseq.reset();
  report_.notes.push_back("threads differ, or clone is watched by another tool: using the shared ring");
  report_.refused.clear();
  return build();
}

Status Instrumentation::refuse_other_blip(const std::vector<proc::Map>& maps) const {
  for (const proc::Map& map : maps) {
    if (map.path == std::string("/memfd:") + abi::kDataMemfdName && map.range.begin != region_.control)
      return Error(ErrorKind::kBusy,
                   fmt::format("another blip has just attached to process {}", process_.pid()));
  }
  return {};
}

Result<bool> Instrumentation::patch_stopped(proc::Attachment& attachment, bool last_try) {
  if (memory_.mm_gone())
    return Error(ErrorKind::kGone, fmt::format("process {} called exec", process_.pid()));
  if (!touched_) TRY_OK(check_facts(attachment));
  TRY(const std::vector<proc::Map> maps, proc::read_maps(process_.pid()));
  TRY_OK(refuse_other_blip(maps));
  if (facts_.rseq && thread_before_clone(attachment)) {
    if (!last_try) return false;
    return Error(ErrorKind::kBusy,
                 fmt::format("process {} makes children all the time: try again", process_.pid()));
  }
  const PatchIndex index(patches_);
  touched_ = true;  // threads may be moved
  TRY(const std::vector<const Patch*> blocked, move_into_pads(attachment, memory_, maps, index, last_try));
  if (!blocked.empty()) {
    if (!last_try) {
      touched_ = false;
      return false;
    }
    drop(blocked);
  }
  TRY_OK(write_gate(abi::kGateOpen));
  TRY(const std::vector<size_t> foreign, write_text(memory_, patches_, Direction::kInstall));
  for (auto i = foreign.rbegin(); i != foreign.rend(); ++i) {
    if (patches_[*i].probe != Patch::kNoProbe)
      report_.refused.emplace_back(patches_[*i].probe, "the code in memory differs from the file");
    patches_.erase(patches_.begin() + static_cast<ptrdiff_t>(*i));
  }
  return true;
}

// About to make a child that nobody would announce at the gate.
bool Instrumentation::thread_before_clone(proc::Attachment& attachment) const {
  for (const proc::Thread& thread : attachment.threads())
    for (const x86::CloneSite& site : clone_sites_)
      if (thread.restart_pc() == site.addr.value + abi::kJumpSize) return true;
  return false;
}

void Instrumentation::drop(const std::vector<const Patch*>& blocked) {
  std::set<TargetAddr> sites;
  for (const Patch* patch : blocked) {
    if (!sites.insert(patch->addr).second || patch->probe == Patch::kNoProbe) continue;
    report_.refused.emplace_back(patch->probe,
                                 "a thread or a signal handler is inside the bytes to be replaced");
  }
  std::erase_if(patches_, [&](const Patch& p) { return sites.contains(p.addr); });
}

}  // namespace blip::probe
