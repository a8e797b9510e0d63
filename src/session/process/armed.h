// SPDX-License-Identifier: MIT
// What arming came to, for the user.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "session/plan/refusal.h"

namespace blip::session {

struct Armed {
  uint64_t probes = 0;   // over all processes
  uint64_t traps = 0;    // of these, by int3
  double total_ms = 0;   // from blip's start, without the time that it waited for a process to come
  double paused_ms = 0;  // the longest stop of any thread
  std::vector<Refusal> refused;
  std::vector<std::string> remarks;  // what the user should know: a script's interpreter is traced
  std::vector<std::string> notes;    // for -v: fall-backs taken, leftovers cleaned
};

}  // namespace blip::session
