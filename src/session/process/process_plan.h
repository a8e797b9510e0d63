// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "proc/files/maps.h"
#include "session/plan/probe_plan.h"
#include "session/process/target_process.h"
#include "session/process/trace_context.h"

namespace blip::session {

// Says what a trace would patch in one process; nothing is changed in it yet.
struct ProcessPlan {
  ProbePlan probes;
  RequestMask late;  // requests that a library may match which comes later; empty: none
  bool watches_libraries = false;
  bool modules_complete = false;  // every file with code could be read
  std::vector<proc::Map> maps;    // that the plan was made for
  std::vector<std::string> notes;
  std::vector<std::string> remarks;

  // True if something matches the request, or if it names a library that may come.
  bool means(const Options& options, size_t request) const;
  // True if programs of it read memory that may not be there; also such as may come with a library.
  bool reads_memory(const Options& options) const;
};

Result<ProcessPlan> plan_process(const TargetProcess& target, TraceContext& context, const PlanScope& scope);

}  // namespace blip::session
