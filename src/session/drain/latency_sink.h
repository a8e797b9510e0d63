// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "abi/layout.h"
#include "ring/histogram.h"
#include "session/drain/event_sink.h"

namespace blip::session {

// Histograms of latencies, in ns, one for each class that has them.
class LatencySink final : public EventSink {
 public:
  void add_classes(const std::vector<ctf::EventClass>& all) override {
    histograms_.resize(all.size() + abi::kFirstClass);
    has_latency_.resize(histograms_.size());
    for (const ctf::EventClass& c : all)
      has_latency_[c.id] = std::any_of(c.fields.begin(), c.fields.end(),
                                       [](const ctf::Field& field) { return field.is_duration; });
  }
  [[gnu::always_inline]] void put(const Event& event) override {
    if (has_latency_[event.class_id]) [[unlikely]]
      histograms_[event.class_id].add(event.latency_ns);
  }

  const ring::Histogram& of(uint32_t class_id) const { return histograms_[class_id]; }

 private:
  std::vector<ring::Histogram> histograms_;  // by class id
  std::vector<uint8_t> has_latency_;
};

}  // namespace blip::session
