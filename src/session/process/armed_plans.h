// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/addr.h"
#include "session/plan/classes.h"
#include "session/plan/probe_plan.h"
#include "session/process/event_source.h"

namespace blip::session {

// Everything that was armed in one process: what was there at the start, then what libraries brought. Tells what
// came of its probes, by the words of the trace that asked for them.
class ArmedPlans {
 public:
  // `first` outlives it.
  explicit ArmedPlans(const ProbePlan& first) : first_(first) {}

  ProbePlan& add(ProbePlan plan) { return late_.emplace_back(std::move(plan)); }
  void drop_last() { late_.pop_back(); }
  size_t target_count() const;

  // SYMBOL+0xOFF; empty if no function is known there.
  std::string place_of(TargetAddr address) const;

  // The following need the source that the plans were armed in.
  // Counting: adds the hits of each armed function to its class's entry, [class id - 1].
  void add_hits(const EventSource& source, std::vector<std::optional<uint64_t>>& hits) const;
  // Adds how the calls of functions went whose returns are probed.
  void add_calls(const EventSource& source, const ClassTable& classes, const Options& options,
                 std::vector<std::optional<CallTotals>>& calls) const;
  // Calls that were skipped, of probes that share them with others: not among the drain's totals.
  uint64_t lost_with_others(const EventSource& source) const;

 private:
  template <typename Visit>
  void each(Visit visit) const {
    visit(first_);
    for (const ProbePlan& plan : late_) visit(plan);
  }
  std::vector<uint32_t> armed_classes(const EventSource& source) const;
  uint32_t frame_class(uint32_t id) const;

  const ProbePlan& first_;
  std::deque<ProbePlan> late_;
};

}  // namespace blip::session
