// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "abi/layout.h"
#include "base/addr.h"
#include "base/result.h"
#include "probe/arm/arm_options.h"
#include "probe/arm/arm_report.h"
#include "probe/arm/trace_changes.h"
#include "probe/arm/trace_parts.h"
#include "probe/code/module.h"
#include "probe/inject/open_calls.h"
#include "probe/inject/removal.h"
#include "probe/inject/ring_filler.h"
#include "probe/inject/sharers.h"
#include "probe/inject/target_restorer.h"
#include "probe/patch/pads.h"
#include "proc/files/maps.h"
#include "proc/files/memory.h"
#include "proc/files/process.h"

namespace blip::probe {

// Everything blip has put into a target. Armed from arm() until disarm() or the destructor. It is a
// door to its parts.
class Instrumentation {
 public:
  // Maps memory (one short stop of one thread), builds pads while the target runs, patches all sites in one
  // stop of all threads. On an error nothing is left in the target. A probe's planned.site is an index into
  // the sites of its module.
  static Result<std::unique_ptr<Instrumentation>> arm(const proc::Process& process, proc::Memory& memory,
                                                      std::span<const Module> modules, ModuleSites sites,
                                                      std::vector<Probe> probes, const ArmOptions& options);
  ~Instrumentation();

  const abi::Geometry& geometry() const { return trace_.memory.geometry(); }
  // blip's mapping of the data region.
  uint8_t* region() const { return trace_.memory.here(); }
  // What was read of the region does not count as memory of this process, until it is read again.
  void release_region() const { trace_.memory.region().data.release_pages(); }
  // What gets the rest of the rings' memory; null: they have all of it. Lives as long as this.
  const RingFiller* filler() const { return trace_.memory.pages().filler(); }
  const ArmReport& report() const { return trace_.report; }
  size_t probe_count() const { return trace_.probes.count(); }
  // Tells a later blip more of what the records are. False: there is no room, and it finds what was told
  // before.
  bool write_schema(std::string_view text) { return trace_.memory.write_schema(text); }
  // Turns one probe off or on again, in all processes that have it, without stopping anybody.
  void switch_probe(size_t index, bool on) { trace_.memory.switch_probe(index, on); }

  // Whether so many more could be added; they may still not fit, if they need more places than they should.
  Status check_room(size_t probes) const { return TraceChanges::check_room(trace_, probes); }
  // Puts further probes in while the others go on: one short stop of one thread, one of all. They get the
  // next indices; report().refused names those that could not be armed, also those that share bytes with one
  // that is.
  Status add(ModuleSites sites, std::vector<Probe> probes) {
    return add({}, trace_.modules, std::move(sites), std::move(probes));
  }
  // The same for a library that came later. `modules`: those that the sites are of; `mapped`: where the plan
  // saw them. If something else is there at the stop, nothing is changed, and it is an error (kNotFound).
  Status add(std::span<const proc::Map> mapped, std::span<const Module> modules, ModuleSites sites,
             std::vector<Probe> probes) {
    return TraceChanges(trace_).add(mapped, modules, std::move(sites), std::move(probes));
  }
  // Switches a probe off for good; if it was the last one of its site, and no other site needs its bytes, the
  // text is restored there in one short stop. Its pad stays until the end.
  Status remove(size_t index) { return TraceChanges(trace_).remove(index); }

  // A library has gone: its sites are no more, and what is mapped there now is not touched. Their pads stay.
  // `file` tells libraries apart that were at one place (Module::identity()).
  void forget(AddrRange library, const void* file);
  // The same file is mapped at the same place again: the sites get their jumps back in one short stop.
  Status revive(AddrRange library, const void* file, std::span<const proc::Map> mapped) {
    return TraceChanges(trace_).revive(library, file, mapped);
  }
  // False: the library is not the one that was patched, although it is the same file at the same place.
  bool is_patched(AddrRange library) const;

  // Why memory of the target is read through the kernel only; empty: RangeFeed may publish what can be read.
  const std::string& no_ranges() const { return trace_.calls.no_ranges(); }
  // Why pads make no system calls, so that what they do not know how to read is a fault; empty: they may.
  const std::string& no_calls() const { return trace_.calls.no_calls(); }

  // Where blip's own code is in the target.
  std::vector<AddrRange> pads() const { return trace_.memory.pads(); }

  abi::LibraryWord& library_word() const { return reinterpret_cast<abi::DataHeader*>(region())->libraries; }

  // Restores the target. After it, or once the target is gone, the destructor does nothing.
  Result<RemovalReport> disarm();
  // The same for a child that a fork gave a copy of everything.
  Result<RemovalReport> disarm_child(const proc::Process& child, proc::Memory& memory);
  void target_is_gone();
  // After all have been restored: the calls that were entered, but not left.
  const OpenCalls& open_calls() const { return open_calls_; }
  // Who has the trace's memory: the target, and its children after forks.
  const MemorySharers& sharers() const { return trace_.memory.sharers(); }

 private:
  Instrumentation(const proc::Process& process, proc::Memory& memory, std::span<const Module> modules,
                  std::vector<Probe> probes, const ArmOptions& options);

  Result<RemovalReport> remove_from(const proc::Process& process, proc::Memory& memory, bool is_child);
  Status unmap_untouched();

  TargetRestorer restorer_;
  TraceParts trace_;
  OpenCalls open_calls_;
};

}  // namespace blip::probe
