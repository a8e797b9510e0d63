// SPDX-License-Identifier: MIT
#include "session/drain/event_drain.h"

#include <utility>

namespace blip::session {

uint64_t measured_latency_rate(const ctf::TscClock& clock) {
  const double ns_per_unit = clock.clocks().counter_is_monotonic ? 1 : 1e9 / clock.cycles_per_second();
  return static_cast<uint64_t>(ns_per_unit * static_cast<double>(uint64_t{1} << ctf::ClockSegment::kShift));
}

void EventDrain::add_classes(const std::vector<ctf::EventClass>& all) { sinks_.add_classes(all); }

void EventDrain::add_sink(std::unique_ptr<EventSink> sink) {
  sink->add_classes(classes_);
  sinks_.add(std::move(sink));
}

Status EventDrain::write_to(TraceOutput output) {
  TRY(StreamSink streams, StreamSink::create(std::move(output), rows(), vpid_));
  auto recording = std::make_unique<RecordingSink>(std::move(streams), limit_);
  recording_ = recording.get();
  add_sink(std::move(recording));
  return {};
}

std::optional<Error> EventDrain::output_error() const {
  if (error_ || !recording_) return error_;
  return recording_->streams().error();
}

ring::Histogram EventDrain::latencies(uint32_t class_id) const {
  return recording_ ? recording_->latencies().of(class_id) : ring::Histogram();
}

DrainTotals EventDrain::written() const {
  if (!recording_) return {};
  return {.events = recording_->streams().events(), .discarded = recording_->streams().lost()};
}

}  // namespace blip::session
