// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <span>

#include "base/result.h"
#include "probe/patch/plan.h"
#include "session/plan/options.h"

namespace blip::session {

// Finds what a plan for these modules must know of their process. Only reads files.
Result<probe::PlanOptions> plan_options_of(pid_t pid, std::span<const probe::Module> modules,
                                           MovedFaults moved_faults);

// The same for a file that no process has mapped.
probe::PlanOptions plan_options_of_file(MovedFaults moved_faults);

}  // namespace blip::session
