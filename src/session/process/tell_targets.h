// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "session/plan/probe_plan.h"
#include "session/process/armed.h"

namespace blip::session {

// Adds to `armed` what became of the targets, in the words of who asked for functions: a function and its
// inlined copies are one probe, and a copy that cannot be probed is no refusal if the function itself, or
// another copy, is probed. `refusals` are by target; empty: it is armed.
void tell_targets(const ProbePlan& plan, const std::vector<std::string>& refusals, const Options& options,
                  Armed& armed);

}  // namespace blip::session
