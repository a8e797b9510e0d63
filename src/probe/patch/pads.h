// SPDX-License-Identifier: MIT
// All pads of a trace, laid out in areas near the code they serve. Pure: addresses in, bytes out.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "abi/layout.h"
#include "base/addr.h"
#include "base/result.h"
#include "jit/program/action.h"
#include "jit/program/environment.h"
#include "probe/code/module.h"
#include "probe/code/site.h"
#include "x86/flow/syscall_sites.h"

namespace blip::probe {

struct Probe {
  static constexpr size_t kAlone = SIZE_MAX;

  size_t module = 0;
  PlannedProbe planned;
  jit::Action action;
  size_t group = kAlone;   // probes of a group are armed together or not at all
  TargetAddr semaphore{};  // of a static mark: the program asks it whether somebody listens; 0: there is none
};

// Probes by their numbers in the trace. Those before `first` are armed already, and not here any more.
class ProbeList {
 public:
  ProbeList(std::span<const Probe> probes, size_t first = 0) : probes_(probes), first_(first) {}
  ProbeList(const std::vector<Probe>& probes) : probes_(probes) {}

  const Probe& operator[](size_t number) const { return probes_[number - first_]; }
  size_t first() const { return first_; }
  size_t end() const { return first_ + probes_.size(); }

 private:
  std::span<const Probe> probes_;
  size_t first_ = 0;
};

// The sites of each module, as planned.
using ModuleSites = std::vector<std::vector<Site>>;

// One pad to be built: a site and its probes, by their offset in it.
struct PadJob {
  size_t module = 0;
  const Site* site = nullptr;
  std::vector<uint32_t> probes;  // indices
};

// One per site, sorted by address. The sites must outlive them.
std::vector<PadJob> pad_jobs(const ModuleSites& sites, ProbeList probes);

// Code that will share an area of pads, because one area can reach it all.
struct Neighbourhood {
  AddrRange reach;                    // where the area may lie
  uint64_t size = 0;                  // bytes that will be enough
  uint64_t spare = 0;                 // bytes on top that are welcome, for pads that come later
  double fill = 1;                    // of the upper bounds, the share that pads should need
  std::vector<size_t> jobs;           // indices of pad jobs
  std::vector<size_t> syscall_sites;  // indices of system calls
};

// Reads only those parts of `env` that are known before the process has been stopped.
std::vector<Neighbourhood> group_sites(std::span<const Module> modules, std::span<const PadJob> jobs,
                                       ProbeList probes, std::span<const x86::SyscallSite> syscall_sites,
                                       const jit::Environment& env);

// A pad that has been built.
struct BuiltPad {
  static constexpr size_t kNoJob = SIZE_MAX;

  size_t job = kNoJob;  // none: that of a system call
  TargetAddr addr;
  uint32_t size = 0;
  std::vector<std::pair<uint8_t, uint16_t>> heads;  // window offset -> pad offset
  size_t syscall_site = 0;
};

struct BuiltArea {
  std::vector<BuiltPad> pads;
  std::vector<std::pair<size_t, std::string>> refused;  // job, reason
  // The kernel calls the stub for SIGTRAP, and the stub calls the runtime; 0 if they are not in this area.
  TargetAddr trap_stub{};
  TargetAddr runtime{};
};

// Fills `code`, the neighbourhood's area, which lies at `at` in the target. A pad that cannot be built
// refuses its job only.
Result<BuiltArea> build_area(TargetAddr at, std::span<uint8_t> code, const Neighbourhood& neighbourhood,
                             std::span<const PadJob> jobs, ProbeList probes,
                             std::span<const x86::SyscallSite> syscall_sites, const jit::Environment& env,
                             bool shadow_stack);

}  // namespace blip::probe
