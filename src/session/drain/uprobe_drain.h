// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "jit/program/action.h"
#include "probe/uprobe/uprobes.h"
#include "session/drain/event_drain.h"
#include "session/drain/event_maker.h"

namespace blip::session {

// By point of Uprobes: what is to be done at a hit. Several probes may lie at one address.
using UprobePoints = std::vector<std::vector<const jit::Action*>>;

// Makes events of the hits of uprobes, by way of the records that pads would have written.
class UprobeDrain final : public EventDrain {
 public:
  // `uprobes` and `points` outlive it. `ring_size`: bytes per CPU; 0 while counting.
  UprobeDrain(const DrainInput& input, probe::Uprobes& uprobes, const UprobePoints& points,
              uint64_t ring_size);

  void add_classes(const std::vector<ctf::EventClass>& all) override;
  uint64_t drain(ctf::ClockPair start) override;
  uint64_t complete_until() const override { return complete_until_ns_; }
  void finish() override;
  DrainTotals totals() const override;
  uint64_t ring_size() const override { return ring_size_; }
  std::vector<std::string> warnings() const override;

 protected:
  std::vector<StreamSink::Row> rows() const override;

 private:
  uint64_t drain_ring();
  void note_complete(uint64_t start_ns);
  void on_hit(const probe::UprobeHit& hit);
  void tell_discarded(const std::vector<uint64_t>& by_cpu, uint64_t now_ns);

  probe::Uprobes& uprobes_;
  const UprobePoints& points_;
  uint64_t ring_size_;
  uint32_t cpu_count_;
  std::vector<probe::UprobeHit> hits_;  // of one round
  std::vector<uint8_t> record_;
  EventMaker maker_{0, nullptr};
  uint64_t rounds_ = 0;
  uint64_t complete_until_ns_ = 0;
  uint64_t rebound_ = 0;  // how often the thread that the uprobes belong to had ended
};

}  // namespace blip::session
