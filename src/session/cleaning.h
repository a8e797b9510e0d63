// SPDX-License-Identifier: MIT
// What blips that were killed have left in processes, and how it goes.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "session/saving.h"

namespace blip::session {

struct CleanOptions {
  std::vector<pid_t> pids;  // and the processes that share the memory of a trace with them
  bool all = false;         // every process blip may look at
  std::string save_dir;     // not empty: what the rings of pids.front() hold becomes a trace there
  bool allow_init = false;
};

// One process that held something of blip's.
struct CleanedProcess {
  pid_t pid = 0;
  std::string comm;
  size_t places = 0;               // of its text that were restored
  std::vector<std::string> stays;  // why memory stays
  std::optional<Error> error;      // it could not be cleaned
  bool is_traced = false;          // the error: by a blip that lives
};

struct CleanSummary {
  std::vector<CleanedProcess> processes;
  std::vector<SavedTrace> saved;
  std::vector<pid_t> untouched;  // of those asked for
};

// An error if a process that was asked for does not exist, or may not be looked at.
Result<CleanSummary> clean(const CleanOptions& options);

}  // namespace blip::session
