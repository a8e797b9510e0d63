// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "probe/inject/ring_filler.h"
#include "session/drain/event_drain.h"
#include "session/drain/event_maker.h"
#include "session/drain/ring_drain.h"
#include "session/drain/stack_cache.h"
#include "session/watch/thread_names.h"

namespace blip::session {

// Makes events of the records that pads of one process, and of its children, write into rings.
class PadDrain final : public EventDrain {
 public:
  // `filler` fills the rings with memory while they are used; null: they have all of it.
  PadDrain(const DrainInput& input, const RingInput& rings, const probe::RingFiller* filler = nullptr);

  void add_classes(const std::vector<ctf::EventClass>& all) override;
  uint64_t drain(ctf::ClockPair start) override;
  uint64_t complete_until() const override;
  void finish() override;
  DrainTotals totals() const override;
  std::vector<std::string> warnings() const override;
  uint64_t ring_size() const override { return rings_.ring_size(); }
  std::vector<int32_t> take_heard_of() override { return rings_.take_heard_of(); }

 protected:
  std::vector<StreamSink::Row> rows() const override;

 private:
  template <typename Sink>
  struct Records;

  void learn(const std::vector<ctf::EventClass>& all);
  void hear_life(const Event& event, const uint8_t* record);

  pid_t pid_;
  uint8_t* region_;
  LifeRecords* lives_;
  const probe::RingFiller* filler_;
  RingDrain rings_;
  std::optional<StackCache> stacks_;  // where there are any
  EventMaker maker_;
  std::optional<ThreadNames> names_;  // where a class records them
  uint64_t malformed_ = 0;            // records of which no event could be made
  uint64_t rounds_ = 0;
  uint64_t round_start_ns_ = 0;
};

}  // namespace blip::session
