// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "probe/patch/pads.h"

namespace blip::probe {

struct ArmReport {
  std::chrono::nanoseconds paused{0};                   // longest stop of a thread
  std::chrono::nanoseconds last_paused{0};              // the same of what was added last
  std::vector<std::pair<size_t, std::string>> refused;  // probe, reason: found out only at the process
  std::vector<std::string> notes;

  // All probes of the job.
  void refuse(const PadJob& job, const std::string& reason) {
    for (const uint32_t probe : job.probes) refused.emplace_back(probe, reason);
  }
};

}  // namespace blip::probe
