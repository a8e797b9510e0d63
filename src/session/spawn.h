// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "proc/command.h"
#include "session/process/summary.h"
#include "session/process/traced_process.h"

namespace blip::session {

// A command brought from exec to the milestone where all of it can be probed, still held there.
struct Spawn {
  proc::Command command;
  // Traced what ran before the milestone, if any of that was asked for; disarmed, its events not yet read.
  std::unique_ptr<TracedProcess> early;
  // Everything, to be armed; null if the program ended, or became another one, before, or if nothing in it is
  // to be probed yet (--follow-exec, --lifecycle).
  std::unique_ptr<TracedProcess> planned;
  std::optional<End> ended;
  std::vector<std::string> remarks;  // what the user should know
  std::vector<std::string> notes;

  // On an error the command has not run, or no further than its loader.
  static Result<Spawn> start(const std::vector<std::string>& words, TraceContext& context);

 private:
  explicit Spawn(proc::Command c) : command(std::move(c)) {}

  void make_remarks();
  Status prepare(TraceContext& context);
  Status run_to_milestone(TraceContext& context);
  Status arm_early(TraceContext& context, const PlanScope& scope);
  Status disarm_early();
};

}  // namespace blip::session
