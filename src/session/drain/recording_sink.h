// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "session/drain/latency_sink.h"
#include "session/drain/stream_sink.h"

namespace blip::session {

// How many events a trace may hold, over all its processes.
struct EventLimit {
  uint64_t most = UINT64_MAX;
  uint64_t taken = 0;

  bool reached() const { return taken >= most; }
};

// What `record` does with events, up to the limit: stream files, and histograms of what was written. Its
// class is final, and put() is inlined into the drain of rings, because every event of a trace passes here.
class RecordingSink final : public EventSink {
 public:
  // `limit` outlives it.
  RecordingSink(StreamSink streams, EventLimit& limit) : streams_(std::move(streams)), limit_(limit) {}

  void add_classes(const std::vector<ctf::EventClass>& all) override {
    streams_.add_classes(all);
    latencies_.add_classes(all);
  }
  [[gnu::always_inline]] void put(const Event& event) override {
    if (limit_.reached()) return;
    ++limit_.taken;
    streams_.put(event);
    latencies_.put(event);
  }
  void set_discarded(uint32_t row, uint64_t cumulative, uint64_t time_ns) override {
    streams_.set_discarded(row, cumulative, time_ns);
  }
  bool stores() const override { return true; }
  StoredPackets store(uint32_t row) override { return streams_.store(row); }
  void end_round(uint64_t complete_until_ns) override { streams_.end_round(complete_until_ns); }
  void finish() override { streams_.finish(); }

  const StreamSink& streams() const { return streams_; }
  const LatencySink& latencies() const { return latencies_; }

 private:
  StreamSink streams_;
  LatencySink latencies_;
  EventLimit& limit_;
};

}  // namespace blip::session
