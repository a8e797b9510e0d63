// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <vector>

#include "session/process/traced_process.h"

namespace blip::session {

// The processes of one trace, from when they are found until they have gone.
class Roster {
 public:
  using Processes = std::vector<std::unique_ptr<TracedProcess>>;

  // `tries`: how often a process of the right name may fail before it is left out.
  explicit Roster(int tries) : tries_(tries) {}

  Processes& planned() { return planned_; }  // to be armed
  const Processes& planned() const { return planned_; }
  Processes& live() { return live_; }  // armed
  const Processes& live() const { return live_; }
  std::vector<proc::Process>& unarmed() { return unarmed_; }  // nothing in them matches yet
  const std::vector<proc::Process>& unarmed() const { return unarmed_; }

  // The first of those that were found before anything was armed; null if there is none.
  const proc::Process* first() const;
  bool empty() const { return live_.empty() && unarmed_.empty(); }

  // A process of the right name could not be traced. True if it is left out because of that, for the first time.
  bool note_failure(pid_t pid) { return ++failures_[pid] == tries_; }
  void leave_out(pid_t pid) { failures_[pid] = tries_; }
  // It is traced, or shares the pads of a process that is, or is left out.
  bool is_settled(pid_t pid) const;

 private:
  int tries_;
  Processes planned_;
  Processes live_;
  std::vector<proc::Process> unarmed_;
  std::map<pid_t, int> failures_;
};

}  // namespace blip::session
