// SPDX-License-Identifier: MIT
// Which bytes will change, decided from the files alone: no process is touched, nothing is stopped.
#pragma once

#include <cstddef>
#include <span>

#include "probe/code/module.h"
#include "probe/code/site.h"
#include "x86/ladder.h"
#include "x86/trampoline_space.h"

namespace blip::probe {

struct PlanOptions {
  bool shadow_stack = false;
  // The program catches SIGSEGV or SIGBUS, or SIGFPE, and may look where they happened.
  bool faults_matter = false;
  bool overflows_matter = false;
  // Where that is all that is in the way, they are moved all the same (not in Go, where faults are panics).
  bool accept_faults = false;
  x86::TrapUse traps = x86::TrapUse::kNever;
  bool verdict_only = false;  // for looking at, not for arming: the probes lack what only a pad needs to know
};

// Each page of trampolines is a mapping of the target; the kernel allows a process 65,530.
inline constexpr size_t kMaxTrampolinePages = 8192;

// Decides how the points of one module would be probed, all together. `space` is where trampolines may be put
// in the target, for all modules of a process. See docs/design/patch_plan.md.
ModulePlan plan_points(const Module& module, std::span<const Point> points, const PlanOptions& options,
                       x86::TrampolineSpace& space);

// A program, not a library, even if it can be run like one (libc): the heap begins behind it.
bool loads_as_program(const Module& module);

// Room for trampolines in a process that has only this module mapped.
x86::TrampolineSpace assumed_space(const Module& module);

}  // namespace blip::probe
