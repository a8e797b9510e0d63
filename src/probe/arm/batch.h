// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "jit/program/environment.h"
#include "probe/code/module.h"
#include "probe/inject/region.h"
#include "probe/patch/pads.h"
#include "probe/patch/patches.h"
#include "probe/patch/trampolines.h"
#include "x86/flow/syscall_sites.h"

namespace blip::probe {

// The room that a batch's code has.
struct PadPlaces {
  struct Area {
    TargetAddr at;
    const Mapping* file;  // here
    uint64_t offset;      // in the file
  };

  std::vector<Area> areas;               // one per neighbourhood, in their order
  const PadFile* trampolines = nullptr;  // null: there are none
};

// Sites that are put into a target together, in one stop. Patches refer to its jobs, so it stays where it is.
class Batch {
 public:
  // The probes belong to the sites. Of `env` only what is known before the process has been stopped.
  Batch(std::span<const Module> modules, ModuleSites sites, ProbeList probes,
        std::vector<x86::SyscallSite> syscall_sites, const jit::Environment& env);
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  std::span<const Neighbourhood> neighbourhoods() const { return neighbourhoods_; }
  const TrampolineLayout& trampolines() const { return trampolines_; }
  std::span<const PadJob> jobs() const { return jobs_; }
  // At most so many entries of the site table are needed.
  size_t max_edits() const;
  // How many sites are traps.
  size_t traps() const;
  // Nothing is built again: what only pads are made of is given up.
  void settle();
  // Leaves a site out of what build() makes.
  void refuse(size_t job, std::string reason) { refused_.emplace_back(job, std::move(reason)); }

  // Writes pads and trampolines into their places, and says what is to be done to the text. May be done again.
  Result<MadePatches> build(const PadPlaces& places, std::span<const Module> modules, ProbeList probes,
                            const jit::Environment& env, bool shadow_stack) const;

 private:
  void refuse_without_trampoline(const PadPlaces& places, std::vector<BuiltPad>& pads,
                                 std::vector<std::pair<size_t, std::string>>& refused) const;

  ModuleSites sites_;
  std::vector<x86::SyscallSite> syscall_sites_;
  std::vector<PadJob> jobs_;
  std::vector<Neighbourhood> neighbourhoods_;
  TrampolineLayout trampolines_;
  std::vector<std::pair<size_t, std::string>> refused_;  // job, reason
};

}  // namespace blip::probe
