// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "base/result.h"
#include "session/outputs.h"
#include "session/process/armed.h"
#include "session/roster.h"

namespace blip::session {

// Arms what was planned, and brings the events to their outputs.
class ProcessArmer {
 public:
  // All of it outlives this.
  ProcessArmer(TraceContext& context, Roster& roster, Outputs& outputs, Armed& armed)
      : context_(context), roster_(roster), outputs_(outputs), armed_(armed) {}

  // All processes that the roster has planned.
  Status arm_planned();
  // A failure that the outputs note is not the process's fault.
  Status arm(std::unique_ptr<TracedProcess> process);

  uint64_t probes() const { return armed_.probes; }
  // Time spent on metadata and stream files.
  double registration_ms() const { return registration_ms_; }

 private:
  bool is_everything_lost() const;
  Status watch_only(pid_t pid, const Error& why);

  TraceContext& context_;
  Roster& roster_;
  Outputs& outputs_;
  Armed& armed_;
  double registration_ms_ = 0;
};

}  // namespace blip::session
