// SPDX-License-Identifier: MIT
// Turns the rings of one region into records, without a process and without files.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "abi/layout.h"
#include "ring/clock.h"
#include "ring/drain_stats.h"
#include "ring/reader.h"
#include "ring/shared_reader.h"
#include "session/drain/discard_watch.h"
#include "session/drain/event_sink.h"

namespace blip::session {

// Where the records are. All of it outlives the drain.
struct RingInput {
  abi::Geometry geometry;
  uint8_t* region;                         // blip's mapping of the data region
  int32_t vpid;                            // as the process sees itself
  uint64_t start_tsc;                      // older records cannot be honest
  std::vector<int32_t> ring_pids{};        // whose records come first in each ring; empty: the process's
  const std::atomic<bool>* complete = {};  // the rings have all of their memory; null: from the beginning
};

// Drains the rings of all CPUs and the shared ring, whose rows come in this order. Functions with a `to` hand
// over to it what comes:
//
//     to.record(row, tsc, class_id, pid, record, size)   one record, a copy of what the target wrote
//     to.set_discarded(row, hits, time_ns)               see EventSink
//     to.stores(), to.store(row)                         the same
//
// It is a parameter of templates because every event of a trace passes there.
class RingDrain {
 public:
  // `monotonic`: the records' times are ns instead of cycles.
  RingDrain(const RingInput& input, bool monotonic);

  // Records of the class, one of the geometry, are so long, as ring/record_size.h has it.
  void set_record_size(uint32_t class_id, uint32_t size) { record_sizes_[class_id] = size; }

  // One round; returns the bytes drained. `now_ns` is its begin.
  template <class To>
  uint64_t drain(uint64_t now_ns, To&& to);
  // The last round: nobody writes any more.
  template <class To>
  void finish(To&& to);

  // In units of the records' clock: nothing that the shared ring still brings is older.
  uint64_t shared_complete_until() const { return shared_ ? shared_->complete_until() : UINT64_MAX; }
  // Rows of rings that there are; 0: counting, there is nothing to drain.
  uint32_t rows() const { return rings_.empty() ? 0 : static_cast<uint32_t>(rings_.size()) + 1; }
  uint64_t ring_size() const { return geometry_.ring_size(); }
  const abi::Geometry& geometry() const { return geometry_; }
  const ring::DrainStats& stats() const { return stats_; }
  // Bytes of each ring that would have been enough; 0: not known.
  uint64_t ring_needed() const { return discards_.ring_needed(); }
  // Pids of other processes than the traced one whose first record has come since the last call.
  std::vector<int32_t> take_heard_of() { return std::exchange(new_pids_, {}); }

 private:
  static constexpr uint64_t kRoundsPerLook = 16;  // at all counts of discarded hits
  // What is drained keeps its room in the ring until it is stored, at the latest when it takes this part of
  // the ring, or after so long.
  static constexpr uint64_t kHeldPart = 16;
  static constexpr uint64_t kHeldNs = 1'000'000'000;
  static constexpr int kLastRounds = 4;

  void hear_of(int32_t pid);
  void look_at_ring(uint32_t ring);
  void look_for_discarded(uint32_t row);
  bool looks_at_all() const { return rounds_ % kRoundsPerLook == 0; }

  template <class To>
  uint64_t drain_all(bool last, To& to);
  template <class To>
  ring::DrainStats drain_ring(uint32_t ring, To& to);
  template <class To>
  ring::DrainStats drain_shared(bool last, To& to);
  template <class To>
  bool tell_passed(uint32_t row, To& to);
  template <class To>
  void tell_until(uint64_t tsc, To& to);
  template <class To>
  void tell_next(uint32_t row, To& to);
  template <class To>
  void release(uint32_t ring, To& to);
  template <class To>
  void release_shared(To& to);

  abi::Geometry geometry_;
  ring::RecordClock now_;
  std::vector<uint32_t> record_sizes_;  // by class id
  std::vector<ring::RingReader> rings_;
  std::optional<ring::SharedRingReader> shared_;
  std::vector<int32_t> ring_pids_;  // whose records come now
  int32_t shared_pid_;              // the same for the shared ring
  std::set<int32_t> pids_;          // all so far
  std::vector<int32_t> new_pids_;
  DiscardWatch discards_;
  ring::DrainStats stats_;
  uint64_t rounds_ = 0;
  uint64_t last_release_ns_ = 0;
  bool release_all_ = false;  // in this round
};

template <class To>
uint64_t RingDrain::drain(uint64_t now_ns, To&& to) {
  ++rounds_;
  release_all_ = now_ns - last_release_ns_ >= kHeldNs;
  if (release_all_) last_release_ns_ = now_ns;
  return drain_all(false, to);
}

// Each ring hands out at most one ring's worth per call; bounded, for the target may write on if it could not
// be restored.
template <class To>
void RingDrain::finish(To&& to) {
  for (int i = 0; i < kLastRounds && drain_all(false, to) > 0; ++i) {
  }
  drain_all(true, to);
  if (!to.stores()) return;
  for (uint32_t row = 0; row < rows(); ++row) {
    look_for_discarded(row);
    while (discards_.marks(row).next()) tell_next(row, to);
  }
  for (uint32_t i = 0; i < rings_.size(); ++i) release(i, to);
}

template <class To>
uint64_t RingDrain::drain_all(bool last, To& to) {
  ring::DrainStats round;
  for (uint32_t i = 0; i < rings_.size(); ++i) round += drain_ring(i, to);
  if (shared_) round += drain_shared(last, to);
  stats_ += round;
  return round.bytes;
}

// At most one ring's worth, released in pieces, so that the target has room soon.
template <class To>
ring::DrainStats RingDrain::drain_ring(uint32_t ring, To& to) {
  int32_t& pid = ring_pids_[ring];
  const auto sink = [&](uint64_t tsc, uint16_t id, const uint8_t* record, uint32_t size) {
    if (id != abi::kProcessClass) [[likely]] {
      to.record(ring, tsc, id, pid, record, size);
    } else {
      std::memcpy(&pid, record + offsetof(abi::ProcessRecord, pid), sizeof pid);
      hear_of(pid);
    }
  };
  const bool stores = to.stores();
  const uint64_t piece = stores ? geometry_.ring_size() / kHeldPart : geometry_.ring_size();
  ring::RingReader& reader = rings_[ring];
  if (stores) reader.hold_drained();
  ring::DrainStats all;
  while (all.bytes < geometry_.ring_size()) {
    if (stores) look_at_ring(ring);
    // A target that tells nonsense can have made the reader begin anew elsewhere.
    while (discards_.marks(ring).next() &&
           *discards_.marks(ring).next() - reader.consumed() > geometry_.ring_size())
      tell_next(ring, to);
    const ring::DrainStats some = reader.drain(sink, now_, piece, discards_.marks(ring).next());
    all += some;
    const bool passed = tell_passed(ring, to);
    if (stores && (release_all_ || reader.held() >= piece)) release(ring, to);
    if (some.bytes == 0 && !passed) break;
  }
  return all;
}

template <class To>
ring::DrainStats RingDrain::drain_shared(bool last, To& to) {
  const uint32_t row = geometry_.ring_count;
  const bool stores = to.stores();
  if (stores && (shared_->may_be_full() || looks_at_all())) look_for_discarded(row);
  const auto sink = [&](uint64_t tsc, uint16_t id, const uint8_t* record, uint32_t size) {
    if (discards_.marks(row).next()) [[unlikely]]
      tell_until(tsc, to);
    int32_t pid;
    std::memcpy(&pid, record + shared_->pid_offset(), sizeof pid);
    if (pid != shared_pid_) hear_of(shared_pid_ = pid);
    to.record(row, tsc, id, pid, record, size);
  };
  const ring::DrainStats some = last ? shared_->finish(sink, now_) : shared_->drain(sink, now_);
  tell_until(shared_->complete_until(), to);
  discards_.waiting(row, some.records * geometry_.slot_size);
  if (stores && (release_all_ || shared_->unreleased() >= geometry_.slot_count / kHeldPart))
    release_shared(to);
  return some;
}

// True: hits were discarded where the reader is now.
template <class To>
bool RingDrain::tell_passed(uint32_t ring, To& to) {
  if (discards_.marks(ring).next() != rings_[ring].consumed()) return false;
  tell_next(ring, to);
  return true;
}

// Before a record of the shared ring, or when none older than `tsc` can come.
template <class To>
void RingDrain::tell_until(uint64_t tsc, To& to) {
  DiscardMarks& marks = discards_.marks(geometry_.ring_count);
  while (marks.next() && *marks.next() <= tsc) tell_next(geometry_.ring_count, to);
}

template <class To>
void RingDrain::tell_next(uint32_t row, To& to) {
  const DiscardMarks::Mark mark = discards_.marks(row).take();
  to.set_discarded(row, mark.discarded, mark.time_ns);
}

// Into the files first, then to the target.
template <class To>
void RingDrain::release(uint32_t ring, To& to) {
  if (rings_[ring].held() == 0) return;
  const StoredPackets stored = to.store(ring);
  rings_[ring].release(
      {.own_packets = stored.own, .several_packets = stored.several, .pid = ring_pids_[ring]});
}

template <class To>
void RingDrain::release_shared(To& to) {
  if (shared_->unreleased() == 0) return;
  const StoredPackets stored = to.store(geometry_.ring_count);
  shared_->release({.own_packets = stored.own, .several_packets = stored.several});
}

}  // namespace blip::session
