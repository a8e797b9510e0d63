// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "abi/layout.h"
#include "base/result.h"
#include "jit/program/environment.h"
#include "probe/arm/arm_options.h"
#include "probe/arm/arm_report.h"
#include "probe/arm/arming_stage.h"
#include "probe/arm/batch.h"
#include "probe/arm/stops.h"
#include "probe/arm/trap_support.h"
#include "probe/arm/watched_calls.h"
#include "probe/code/module.h"
#include "probe/inject/leftovers.h"
#include "probe/inject/open_calls.h"
#include "probe/inject/region.h"
#include "probe/inject/removal.h"
#include "probe/inject/ring_filler.h"
#include "probe/inject/sharers.h"
#include "probe/inject/target_restorer.h"
#include "probe/inject/text.h"
#include "probe/inject/thread_facts.h"
#include "probe/inject/threads.h"
#include "probe/patch/pads.h"
#include "probe/patch/site_table.h"
#include "proc/attachment.h"
#include "proc/files/memory.h"
#include "proc/files/process.h"

namespace blip::probe {

// Everything blip has put into a target. Armed from arm() until disarm() or the destructor.
class Instrumentation {
 public:
  // Maps memory (one short stop of one thread), builds pads while the target runs, patches all sites in one
  // stop of all threads. On an error nothing is left in the target. A probe's planned.site is an index into
  // the sites of its module.
  static Result<std::unique_ptr<Instrumentation>> arm(const proc::Process& process, proc::Memory& memory,
                                                      std::span<const Module> modules, ModuleSites sites,
                                                      std::vector<Probe> probes, const ArmOptions& options);
  ~Instrumentation();

  const abi::Geometry& geometry() const { return geometry_; }
  // blip's mapping of the data region.
  uint8_t* region() const { return region_.data.data(); }
  // What was read of the region does not count as memory of this process, until it is read again.
  void release_region() const { region_.data.release_pages(); }
  // What gets the rest of the rings' memory; null: they have all of it. Lives as long as this.
  const RingFiller* filler() const { return filler_.get(); }
  const ArmReport& report() const { return report_; }
  size_t probe_count() const { return settled_ + probes_.size(); }
  // Tells a later blip more of what the records are. False: there is no room, and it finds what was told
  // before.
  bool write_schema(std::string_view text);
  // Turns one probe off or on again, in all processes that have it, without stopping anybody.
  void switch_probe(size_t index, bool on);

  // Whether so many more could be added; they may still not fit, if they need more places than they should.
  Status check_room(size_t probes) const;
  // Puts further probes in while the others go on: one short stop of one thread, one of all. They get the
  // next indices; report().refused names those that could not be armed, also those that share bytes with one
  // that is.
  Status add(ModuleSites sites, std::vector<Probe> probes) {
    return add({}, modules_, std::move(sites), std::move(probes));
  }
  // The same for a library that came later. `modules`: those that the sites are of; `mapped`: where the plan
  // saw them. If something else is there at the stop, nothing is changed, and it is an error (kNotFound).
  Status add(std::span<const proc::Map> mapped, std::span<const Module> modules, ModuleSites sites,
             std::vector<Probe> probes);
  // Switches a probe off for good; if it was the last one of its site, and no other site needs its bytes, the
  // text is restored there in one short stop. Its pad stays until the end.
  Status remove(size_t index);

  // A library has gone: its sites are no more, and what is mapped there now is not touched. Their pads stay.
  // `file` tells libraries apart that were at one place (Module::identity()).
  void forget(AddrRange library, const void* file);
  // The same file is mapped at the same place again: the sites get their jumps back in one short stop.
  Status revive(AddrRange library, const void* file, std::span<const proc::Map> mapped);
  // False: the library is not the one that was patched, although it is the same file at the same place.
  bool is_patched(AddrRange library) const;

  // Why memory of the target is read through the kernel only; empty: RangeFeed may publish what can be read.
  const std::string& no_ranges() const { return calls_.no_ranges(); }
  // Why pads make no system calls, so that what they do not know how to read is a fault; empty: they may.
  const std::string& no_calls() const { return calls_.no_calls(); }

  // Where blip's own code is in the target.
  std::vector<AddrRange> pads() const;

  abi::LibraryWord& library_word() const { return reinterpret_cast<abi::DataHeader*>(region())->libraries; }

  // Restores the target. After it, or once the target is gone, the destructor does nothing.
  Result<RemovalReport> disarm();
  // The same for a child that a fork gave a copy of everything.
  Result<RemovalReport> disarm_child(const proc::Process& child, proc::Memory& memory);
  void target_is_gone() {
    stage_.enter(ArmingStage::Stage::kRemoved);
    if (returns_) open_calls_.know_nothing();
  }
  // After all have been restored: the calls that were entered, but not left.
  const OpenCalls& open_calls() const { return open_calls_; }
  // Who has the trace's memory: the target, and its children after forks.
  const MemorySharers& sharers() const { return sharers_; }

 private:
  Instrumentation(const proc::Process& process, proc::Memory& memory, std::span<const Module> modules,
                  std::vector<Probe> probes, const ArmOptions& options);

  Status run(ModuleSites sites);
  Status choose_clock();
  Status map_memory();
  void size_shared_ring();
  bool uses_tsc() const;
  Status check_tsc() const;
  Status build();
  Status fill_tables();
  void prepare_stacks();
  void take(const Batch& batch, MadePatches made);
  Status add_batch(std::span<const Module> modules, ModuleSites sites);
  Status check_mapped(const std::vector<proc::Map>& maps);
  void refuse_overlaps(Batch& batch) const;
  void refuse_returns(Batch& batch) const;
  bool is_last(const Patch& patch) const;
  void retire(Patch& patch, const std::vector<size_t>& edits);
  Result<bool> restore_one(const Patch& patch, const EditMask& mask);
  Status fill_header();
  uint32_t unannounced_gate() const;
  jit::Environment environment() const;
  bool asks_kernel() const;
  ProbeList probes() const { return {probes_, settled_}; }
  void settle();
  bool collects() const;
  bool forbids_calls() const { return !asks_kernel() || !calls_.no_calls().empty(); }
  uint64_t shadow_size() const;
  Status write_gate(uint32_t gate);
  void populate();
  Status allocate(size_t edits);
  Status make_live();
  void start_rings();
  void fill_rings();
  // What one stop has come to.
  enum class Patched {
    kAll,
    kBlocked,  // a thread, or a call it is about to make, was in the way
    kSome,     // time was up; perhaps nothing was written at all
  };
  Status patch_patiently();
  Result<Patched> patch(bool last_try);
  Result<Patched> patch_stopped(proc::Attachment& attachment, PatchIndex index, bool last_try);
  Result<Patched> install(proc::Attachment& attachment);
  Result<bool> write_edits(const EditMask& which, proc::Attachment& attachment);
  EditMask guards() const;
  std::vector<bool> begun_patches() const;
  size_t fresh_edits() const;
  Status give_up_for_pause(int tries);
  // True: the pads have been rebuilt.
  Result<bool> check_facts(proc::Attachment& attachment);
  Status refuse_other_blip(const std::vector<proc::Map>& maps) const;
  Status drop(const std::vector<const Patch*>& blocked, const std::string& reason);
  Status drop_parked(proc::Attachment& attachment, const std::vector<proc::Map>& maps,
                     const PatchIndex& index);
  Status drop(const TextReport& text);
  std::string why_foreign(const Edit& edit) const;
  Status deactivate(const EditMask& edits, const std::function<std::string(size_t edit)>& reason);
  void switch_groups(bool on);
  void switch_off_broken_groups();
  Footprint footprint() const;
  Result<RemovalReport> remove_from(const proc::Process& process, proc::Memory& memory, bool is_child);
  Status unmap_untouched();

  const proc::Process& process_;
  proc::Memory& memory_;
  TargetRestorer restorer_;
  std::span<const Module> modules_;
  std::vector<Probe> probes_;  // those that are not armed yet
  size_t settled_ = 0;         // those that were: their pads are made, and their numbers are the lower ones
  jit::Recorded recorded_;     // by them
  bool settled_ask_kernel_ = false;
  abi::Geometry geometry_;
  WatchedCalls calls_;
  TrapSupport traps_;
  std::deque<Batch> batches_;
  ThreadFacts facts_;
  TargetRegion region_;
  MemorySharers sharers_;
  SiteTable site_table_;
  PatchTable table_;
  std::vector<PatchTable> retired_;  // one each that was taken out: children of forks may have them
  // Libraries that have gone, with their sites: they may come back, and children of forks may have them.
  struct Forgotten {
    AddrRange library;
    const void* file;
    PatchTable table;
  };
  std::vector<Forgotten> forgotten_;
  std::vector<AddrRange> libraries_;  // that may go
  std::vector<proc::Map> mapped_;     // what the fresh patches were planned for; empty: it cannot go
  ArmReport report_;
  Stops stops_;
  ArmingStage stage_;
  bool follow_fork_;
  bool monotonic_clock_;
  std::optional<jit::MonotonicClock> clock_;  // none: the TSC
  uint32_t spare_probes_;
  uint32_t live_classes_;
  bool spares_ask_kernel_;
  bool returns_;
  UnwindTablesWanted unwind_;
  bool keeps_values_;
  std::optional<jit::Births> births_;
  Parking parking_;
  std::string schema_;
  KeptMemory kept_;   // of earlier blips
  EditMask written_;  // of the fresh edits of table_, where several stops are needed
  OpenCalls open_calls_;
  std::set<size_t> removed_;             // probes
  std::vector<x86::Rewrite> once_here_;  // of sites that were taken out: threads may still be in their pads
  std::vector<unsigned> online_;         // CPUs
  ring::FirstRoom room_;
  std::vector<RegionPart> live_;
  std::unique_ptr<RingFiller> filler_;  // null: the rings have all of their memory
};

}  // namespace blip::probe
