// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "probe/arm/instrumentation.h"
#include "probe/code/module.h"
#include "proc/files/memory.h"
#include "proc/files/process.h"
#include "ring/range_publisher.h"

namespace blip::probe {

// Publishes what a traced process can read without asking the kernel, as long as all its ways to take memory
// away are watched: docs/design/safe_reads.md.
class RangeFeed {
 public:
  // All of it outlives the feed. `modules`: whose system calls the instrumentation watches.
  RangeFeed(const proc::Process& process, const proc::Memory& memory, std::span<const Module> modules,
            const Instrumentation& instrumentation);

  // To be called often: looks at the process only if reads were missed since, and not too often.
  void refresh();
  // Why reads ask the kernel; empty: they do only where they must.
  const std::string& obstacle() const { return obstacle_; }
  uint64_t published() const { return published_; }

 private:
  using Clock = std::chrono::steady_clock;

  void look();
  Status publish(const ring::RangePublisher::Look& look);
  Status check_code(std::span<const proc::Map> maps);
  Status look_at_new(std::span<const proc::Map> code, std::span<const proc::Map> maps);
  bool is_known(const proc::Map& map) const;

  const proc::Process& process_;
  const proc::Memory& memory_;
  std::span<const Module> modules_;
  std::vector<Module> late_modules_;  // have no calls to watch
  ModuleFiles files_;                 // of those
  std::vector<proc::Map> known_;      // code that was looked at
  std::string obstacle_;
  std::optional<ring::RangePublisher> publisher_;  // none: there is an obstacle from the start
  bool first_ = true;
  uint64_t misses_ = 0;  // at the last look
  Clock::time_point next_{};
  uint64_t published_ = 0;
};

}  // namespace blip::probe
