// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "session/drain/event_sink.h"
#include "session/drain/live_merge.h"

namespace blip::session {

// Hands events to the merge that shows them, as one of its sources. A live event has all fields where its
// class says.
class LiveSink final : public EventSink {
 public:
  // `merge` outlives it.
  explicit LiveSink(LiveMerge& merge) : source_(merge) {}

  void add_classes(const std::vector<ctf::EventClass>& all) override;
  void put(const Event& event) override;
  void end_round(uint64_t complete_until_ns) override { source_.complete(complete_until_ns); }
  void finish() override { source_.complete(UINT64_MAX); }

 private:
  struct Shape {
    bool leads_with_pid = false;
    bool is_padded = false;
  };

  LiveSource source_;
  std::vector<Shape> shapes_;  // by class id
  std::vector<uint8_t> whole_;
};

}  // namespace blip::session
