// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "abi/layout.h"
#include "probe/inject/ring_filler.h"
#include "ring/drain_stats.h"
#include "ring/reader.h"
#include "ring/shared_reader.h"
#include "session/drain/buffer_need.h"
#include "session/drain/discard_marks.h"
#include "session/drain/event_drain.h"
#include "session/drain/stack_cache.h"

namespace blip::session {

// Where the records are. All of it outlives the drain.
struct RingInput {
  abi::Geometry geometry;
  uint8_t* region;                            // blip's mapping of the data region
  int32_t vpid;                               // as the process sees itself
  uint64_t start_tsc;                         // older records cannot be honest
  std::vector<int32_t> ring_pids{};           // whose records come first in each ring; empty: the process's
  const probe::RingFiller* filler = nullptr;  // null: the rings have all of their memory
};

// Drains the rings that pads of one process, and of its children, write.
class PadDrain final : public EventDrain {
 public:
  PadDrain(const DrainInput& input, const RingInput& rings);

  void add_classes(const std::vector<ctf::EventClass>& all) override;
  uint64_t drain(ctf::ClockPair start) override;
  uint64_t complete_until() const override;
  void finish() override;
  DrainTotals totals() const override;
  std::vector<std::string> warnings() const override;
  uint64_t ring_size() const override { return geometry_.ring_size(); }
  std::vector<int32_t> take_heard_of() override { return std::exchange(new_pids_, {}); }

 protected:
  std::vector<Stream> streams() const override;

 private:
  void set_sizes(const std::vector<ctf::EventClass>& classes);
  void on_record(RingOutput* out, uint64_t tsc, uint16_t class_id, int32_t pid, const uint8_t* record,
                 uint32_t size);
  void put_unready(RingOutput* out, uint64_t time_ns, uint16_t class_id, int32_t pid, const uint8_t* record,
                   uint32_t size);
  const uint8_t* finished(const Layout& layout, const uint8_t* record, uint32_t size);
  std::span<const uint64_t> frames_of(const Layout& layout);
  void hear_life(uint64_t time_ns, uint16_t class_id, int32_t pid, const uint8_t* record);
  void hear_of(int32_t pid);
  void look_for_discarded(uint32_t row, uint64_t place);
  void look_at_ring(uint32_t ring);
  bool pass_marks(uint32_t ring);
  void pass_shared_marks(uint64_t tsc);
  void tell(uint32_t row, const DiscardMarks::Mark& mark);
  void tell_all_discarded();
  uint64_t drain_rings(bool last);
  ring::DrainStats drain_ring(uint32_t ring);
  void release(uint32_t ring);
  void release_shared();

  pid_t pid_;
  abi::Geometry geometry_;
  uint8_t* region_;
  LifeRecords* lives_;
  const probe::RingFiller* filler_;
  std::vector<uint32_t> record_sizes_;  // by class id
  ring::RecordClock now_;
  std::vector<ring::RingReader> rings_;
  std::vector<int32_t> ring_pids_;  // whose records come now
  int32_t shared_pid_;              // the same for the shared ring
  std::set<int32_t> pids_;          // all so far
  std::vector<int32_t> new_pids_;
  std::optional<ring::SharedRingReader> shared_;
  std::optional<ThreadNames> names_;  // where a class records them
  std::optional<StackCache> stacks_;  // where there are any
  ctf::ClockSegment latency_scale_;
  std::vector<uint8_t> scratch_;
  ring::DrainStats stats_;
  std::vector<DiscardMarks> marks_;  // by row: positions in the ring; of the shared ring, times
  std::vector<BufferNeed> needs_;    // by row
  uint64_t rounds_ = 0;
  uint64_t round_start_ns_ = 0;
  bool release_all_ = false;  // in this round
  uint64_t last_release_ns_ = 0;
};

}  // namespace blip::session
