// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "session/process/summary.h"
#include "session/process/traced_process.h"

namespace blip::session {

constexpr uint64_t kMaxRingSize = uint64_t{1} << 30;

// What a trace came to, summed over its processes as they go.
class Totals {
 public:
  // `context` outlives it.
  explicit Totals(const TraceContext& context);

  // A process that brings no more events.
  void add(TracedProcess& process);
  void add(const DrainTotals& more);
  void add_events(uint64_t events) { drained_.events += events; }
  void add_warning(std::string warning) { warnings_.push_back(std::move(warning)); }

  // Adds all of it to the summary. `output_error`: why events are missing in the trace.
  void tell(Summary& summary, const std::optional<Error>& output_error) const;
  // Where events were discarded: what would have helped. Else empty.
  std::string buffer_advice() const;

 private:
  void tell_counts(Summary& summary) const;
  void tell_calls(Summary& summary) const;
  CallSummary call_summary(size_t index, const CallTotals& calls) const;

  const TraceContext& context_;
  const bool counts_hits_;
  const bool tells_calls_;  // of functions whose returns are probed
  DrainTotals drained_;
  std::vector<std::optional<uint64_t>> hits_;     // by class id - 1
  std::vector<std::optional<CallTotals>> calls_;  // likewise
  std::vector<std::string> warnings_;
};

}  // namespace blip::session
