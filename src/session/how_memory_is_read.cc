// SPDX-License-Identifier: MIT
// Programs that follow pointers read directly where blip knows what is mapped, and else ask the kernel:
// docs/design/safe_reads.md.
#include <fmt/core.h>

#include <algorithm>

#include "jit/hit_needs.h"
#include "session/pad_source.h"
#include "session/plan/hit_data.h"
#include "session/traced_process.h"

namespace blip::session {

// Also such as may come with a library.
bool TracedProcess::reads_memory() const {
  if (context_.options.backend == Backend::kUprobe) return false;
  if (stacks_) return true;
  const auto& requests = context_.options.probes;
  if (!late_requests_.empty() && std::any_of(requests.begin(), requests.end(), asks_for_data)) return true;
  const auto reads = [](const probe::Probe& p) { return jit::reads_far(p.program.hit); };
  return std::any_of(plan_.probes.begin(), plan_.probes.end(), reads) ||
         std::any_of(plan_.handed_over.begin(), plan_.handed_over.end(),
                     [](const ProbePlan::HandedOver& p) { return p.reads_far; });
}

// The first look comes at once: who waits for a miss is slow until then.
void TracedProcess::feed_ranges() {
  if (!pads_ || !reads_memory()) return;
  ranges_.emplace(process_, memory_, plan_.modules, pads_->instrumentation());
  ranges_->refresh();
}

std::optional<std::string> TracedProcess::refresh_ranges() {
  if (!ranges_ || !ranges_->obstacle().empty() || left_) return {};
  ranges_->refresh();
  if (ranges_->obstacle().empty()) return {};
  return how_memory_is_read();
}

std::string TracedProcess::how_memory_is_read() const {
  if (const std::string& why = pads_->instrumentation().no_calls(); !why.empty())
    return fmt::format("process {}: memory is read on the stack's own page only: {}", process_.pid(), why);
  if (ranges_->obstacle().empty())
    return fmt::format("process {}: memory is read directly, where it is known to be there (valid ranges)",
                       process_.pid());
  return fmt::format("process {}: memory is read by process_vm_readv: {}", process_.pid(),
                     ranges_->obstacle());
}

}  // namespace blip::session
