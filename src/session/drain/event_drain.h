// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ctf/clock.h"
#include "session/drain/recording_sink.h"
#include "session/drain/sink_list.h"
#include "session/watch/life_record.h"

namespace blip::session {

struct DrainTotals {
  uint64_t events = 0;
  uint64_t discarded = 0;
  uint64_t skipped = 0;
  uint64_t malformed = 0;
  uint64_t ring_needed = 0;  // bytes of each CPU's ring that would have been enough; 0: not known
};

// ns per unit of the records' clock, times 2^ClockSegment::kShift, as far as the clock knows by now.
uint64_t measured_latency_rate(const ctf::TscClock& clock);

// What a drain shares with those of the trace's other processes. All of it outlives the drain.
struct DrainInput {
  pid_t pid;
  int32_t vpid;  // as the process sees itself
  const std::vector<ctf::EventClass>& classes;
  ctf::TscClock& clock;
  EventLimit& limit;
  uint64_t latency_rate = 0;      // see TraceContext
  LifeRecords* lives = nullptr;   // where records go that tell of lives; null: there are none
  bool hands_on_records = false;  // see EventMaker
};

// Brings the events of one process, and of its children, to sinks. Subclasses get them from rings or from the
// kernel. Never makes the target wait or call.
class EventDrain {
 public:
  virtual ~EventDrain() = default;

  // The trace has more classes now; before the first of their events.
  virtual void add_classes(const std::vector<ctf::EventClass>& all);

  // From now on, events also go to the sink.
  void add_sink(std::unique_ptr<EventSink> sink);
  // Before the first drain: also write streams, with stream_count() numbers from output.first_stream on.
  Status write_to(TraceOutput output);
  uint64_t stream_count() const { return rows().size() * RingOutput::kStreamsPerRing; }

  // One round, begun at `start`, a sample of the clock; returns the bytes drained. One sample serves all
  // drains: what lies between the last two is converted fastest.
  virtual uint64_t drain(ctf::ClockPair start) = 0;
  // After a round: no event still to come has an earlier time, in ns; what a thread left unfinished for very
  // long excepted.
  virtual uint64_t complete_until() const = 0;
  // The last round: nobody writes any more.
  virtual void finish() = 0;
  // How many bytes wait at most, of one CPU; 0: counting, there is nothing to drain.
  virtual uint64_t ring_size() const = 0;

  // The first failure to bring events to where they belong; the trace on disk is whole up to there.
  std::optional<Error> output_error() const;
  // Only events that were written count here.
  virtual DrainTotals totals() const = 0;
  // Of the events of a class with a latency that were written, in ns.
  ring::Histogram latencies(uint32_t class_id) const;
  // Pids of other processes than the traced one, in their own words, whose first event has come since the
  // last call.
  virtual std::vector<int32_t> take_heard_of() { return {}; }
  // What the user must know of how the events came.
  virtual std::vector<std::string> warnings() const { return {}; }

 protected:
  explicit EventDrain(const DrainInput& input)
      : classes_(input.classes), clock_(input.clock), vpid_(input.vpid), limit_(input.limit) {}

  virtual std::vector<StreamSink::Row> rows() const = 0;
  // The first error counts.
  void note_error(const Error& error) {
    if (!error_) error_ = error;
  }
  EventSink& sinks() { return sinks_; }
  // Calls with_sink(sink): with the recording itself if there is nothing else, so that its put() is inlined.
  template <typename WithSink>
  auto to_sinks(WithSink with_sink) {
    return recording_ && sinks_.size() == 1 ? with_sink(*recording_) : with_sink(sinks_);
  }
  // What reached the files, and what got lost on the way there.
  DrainTotals written() const;
  ctf::TscClock& clock() { return clock_; }
  const ctf::TscClock& clock() const { return clock_; }

 private:
  const std::vector<ctf::EventClass>& classes_;
  ctf::TscClock& clock_;
  int32_t vpid_;
  EventLimit& limit_;
  SinkList sinks_;
  RecordingSink* recording_ = nullptr;  // one of them
  std::optional<Error> error_;
};

}  // namespace blip::session
