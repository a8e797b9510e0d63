// SPDX-License-Identifier: MIT
// Which bytes will change, decided from the files alone: no process is touched, nothing is stopped.
#pragma once

#include <span>

#include "probe/module.h"
#include "probe/plan.h"
#include "probe/site.h"
#include "x86/trampoline_space.h"

namespace blip::probe {

// Decides how the points of one module would be probed, all together. `space` is where trampolines may be put
// in the target, for all modules of a process. See docs/design/patch_plan.md.
ModulePlan plan_points(const Module& module, std::span<const Point> points, const PlanOptions& options,
                       x86::TrampolineSpace& space);

// Room for trampolines in a process that has only this module mapped.
x86::TrampolineSpace assumed_space(const Module& module);

}  // namespace blip::probe
