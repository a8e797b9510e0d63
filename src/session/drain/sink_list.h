// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "session/drain/event_sink.h"

namespace blip::session {

// Several sinks as one. At most one of them stores events.
class SinkList final : public EventSink {
 public:
  void add(std::unique_ptr<EventSink> sink) { sinks_.push_back(std::move(sink)); }
  size_t size() const { return sinks_.size(); }

  void add_classes(const std::vector<ctf::EventClass>& all) override {
    for (const auto& sink : sinks_) sink->add_classes(all);
  }
  void put(const Event& event) override {
    for (const auto& sink : sinks_) sink->put(event);
  }
  void set_discarded(uint32_t row, uint64_t cumulative, uint64_t time_ns) override {
    for (const auto& sink : sinks_) sink->set_discarded(row, cumulative, time_ns);
  }
  bool stores() const override { return storing() != nullptr; }
  StoredPackets store(uint32_t row) override {
    EventSink* sink = storing();
    return sink ? sink->store(row) : StoredPackets();
  }
  void end_round(uint64_t complete_until_ns) override {
    for (const auto& sink : sinks_) sink->end_round(complete_until_ns);
  }
  void finish() override {
    for (const auto& sink : sinks_) sink->finish();
  }

 private:
  EventSink* storing() const {
    for (const auto& sink : sinks_)
      if (sink->stores()) return sink.get();
    return nullptr;
  }

  std::vector<std::unique_ptr<EventSink>> sinks_;
};

}  // namespace blip::session
