// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "session/drain/event_sink.h"
#include "session/run/engine.h"

namespace blip::session {

// Hands the records of one process, and of its children, to the engine. Its drain hands on records as they are.
class HitSink final : public EventSink {
 public:
  // `pid`: as blip sees the process; `vpid`: as it sees itself. The engine outlives the sink.
  HitSink(Engine& engine, int32_t pid, int32_t vpid) : engine_(engine), pid_(pid), vpid_(vpid) {}
  ~HitSink() override;
  HitSink(const HitSink&) = delete;
  HitSink& operator=(const HitSink&) = delete;

  void add_classes(const std::vector<ctf::EventClass>& all) override { engine_.add_classes(all); }
  void put(const Event& event) override;

 private:
  // A child in another namespace is known by its own number only.
  int32_t pid_of(int32_t vpid) const { return vpid == vpid_ ? pid_ : vpid; }

  Engine& engine_;
  int32_t pid_, vpid_;
  std::vector<HitQueue::Ring> rings_;  // by row
};

}  // namespace blip::session
