// SPDX-License-Identifier: MIT
#include "session/process/event_source.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>

#include "base/milliseconds.h"

namespace blip::session {

void tell_removal(pid_t pid, const Result<probe::RemovalReport>& removed, Summary& summary) {
  if (!removed) {
    summary.warnings.push_back(
        fmt::format("process {} could not be restored: {}", pid, removed.error().message()));
    summary.failed = true;
    return;
  }
  summary.detach_paused_ms = std::max(summary.detach_paused_ms, to_ms(removed->paused));
  if (removed->over_limit != 0)
    summary.warnings.push_back(fmt::format(
        "the probes in process {} could not be taken out within --max-pause, {} tries: it was stopped for "
        "{:.1f} "
        "ms",
        pid, removed->over_limit, to_ms(removed->paused)));
  if (removed->kept)
    summary.warnings.push_back(fmt::format(
        "memory of blip stays in process {}, harmless: {}. `blip clean -p {}` takes it away later", pid,
        removed->kept_reason, pid));
  if (removed->unbalanced != 0)
    summary.warnings.push_back(
        fmt::format("{} semaphores of static marks in process {} were 0 already and were left alone: another "
                    "tool has lowered them",
                    removed->unbalanced, pid));
  if (removed->foreign != 0)
    summary.warnings.push_back(
        fmt::format("{} probed places in process {} held bytes of another tool and were left alone",
                    removed->foreign, pid));
}

}  // namespace blip::session
