// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include "base/result.h"
#include "probe/plan.h"

namespace blip::session {

// What a plan must know of the process beside its files. Only reads /proc.
Result<probe::PlanOptions> plan_options_of(pid_t pid);

}  // namespace blip::session
