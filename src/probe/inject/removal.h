// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "probe/inject/region.h"
#include "probe/patch/patches.h"
#include "proc/files/memory.h"
#include "proc/files/process.h"

namespace blip::probe {

struct RemovalReport {
  std::chrono::nanoseconds paused{0};  // longest stop of a thread
  size_t foreign = 0;                  // sites that held other bytes than ours and were not touched
  size_t unbalanced = 0;               // semaphores of marks that somebody else has lowered to 0
  bool kept = false;                   // a thread is still inside: pads and data stay mapped
  std::string kept_reason;
  int over_limit = 0;  // the allowed pause was not kept after so many tries; 0: it was
};

// What else is done on the way.
struct RemovalSteps {
  // Maybe more than once, when nobody can be inside any more; if it fails, the memory stays.
  std::function<Status()> before_unmap{};
  // Once, while the threads run, when nobody can be inside any more: it takes from the mappings what would
  // make the last stop long. None: the text is restored and the mappings are taken away in one stop.
  std::function<void()> give_back{};
};

// Restores the text, waits for threads to leave the pads, takes all mappings away. Used by a live trace and
// for the leftovers of a dead one. `retired` patches, a table for each,
// need not be there any more. kGone when the process ended
// or called exec: then all is gone.
// `max_pause`: in stops that are no longer, as many as it takes. If the text cannot be restored so, it
// is restored in one that is (over_limit); memory stays.
Result<RemovalReport> remove_instrumentation(const proc::Process& process, proc::Memory& memory,
                                             const Footprint& footprint, const PatchTable& table,
                                             std::span<const PatchTable> retired = {},
                                             const RemovalSteps& steps = {},
                                             std::optional<std::chrono::nanoseconds> max_pause = {});

}  // namespace blip::probe
