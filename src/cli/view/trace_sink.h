// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "cli/options/trace_time.h"
#include "cli/view/babeltrace.h"

namespace blip::cli {

// The end of a babeltrace2 graph: takes the messages of a trace in the order of time.
class TraceSink {
 public:
  TraceSink() = default;
  virtual ~TraceSink() = default;
  TraceSink(const TraceSink&) = delete;
  TraceSink& operator=(const TraceSink&) = delete;

  // The sink outlives the graph.
  Result<const bt_component_sink*> add_to(bt_graph* graph);

 protected:
  // False: it wants no more.
  virtual bool take(const bt_message* message) = 0;

 private:
  static bt_graph_simple_sink_component_consume_func_status consume(bt_message_iterator* from, void* sink);
};

// Returns the time of an event in nanoseconds since 1970; none if its stream has no clock.
std::optional<int64_t> time_of(const bt_message* event);
int64_t ns_of(const bt_clock_snapshot* snapshot);

// Finds out when the first and the last event of a trace were.
class SpanFinder final : public TraceSink {
 public:
  TraceSpan span() const { return span_.value_or(TraceSpan{}); }

 protected:
  bool take(const bt_message* message) override;

 private:
  std::optional<TraceSpan> span_;
};

}  // namespace blip::cli
