// SPDX-License-Identifier: MIT
#include "session/drain/ring_drain.h"

namespace blip::session {

namespace {

constexpr size_t kMostPids = 1 << 20;
constexpr uint64_t kWatchdogNs = 100'000'000;

}  // namespace

RingDrain::RingDrain(const RingInput& input, bool monotonic)
    : geometry_(input.geometry),
      now_{monotonic},
      record_sizes_(geometry_.class_count),
      ring_pids_(input.ring_pids),
      shared_pid_(input.vpid),
      pids_{input.vpid},
      discards_(geometry_, input.region, record_sizes_) {
  record_sizes_[abi::kProcessClass] = sizeof(abi::ProcessRecord);
  if (geometry_.ring_size() == 0) return;  // counting: nothing to drain
  for (uint32_t i = 0; i < geometry_.ring_count; ++i)
    rings_.emplace_back(geometry_, input.region, i, record_sizes_, input.start_tsc, input.complete);
  ring_pids_.resize(geometry_.ring_count, input.vpid);
  shared_.emplace(geometry_, input.region, record_sizes_, input.start_tsc);
  if (monotonic) shared_->set_watchdog(kWatchdogNs);
}

// A hostile target may make up as many as it likes.
void RingDrain::hear_of(int32_t pid) {
  if (pids_.size() < kMostPids && pids_.insert(pid).second) new_pids_.push_back(pid);
}

// The count first, then the place: what was discarded up to now lies in front of it.
void RingDrain::look_for_discarded(uint32_t row) {
  DiscardWatch::Discarded found = discards_.count(row);
  if (row == geometry_.ring_count) {
    for (uint64_t n : shared_->discarded()) {
      found.hits += n;
      found.bytes += n * geometry_.slot_size;
    }
    discards_.note(row, now_(), found);
  } else {
    discards_.note(row, rings_[row].head().value_or(rings_[row].consumed()), found);
  }
}

// A hit can have been discarded only if the ring is nearly full; the counts of all classes are read now and
// then all the same.
void RingDrain::look_at_ring(uint32_t ring) {
  discards_.waiting(ring, rings_[ring].backlog());
  if (rings_[ring].may_be_full() || looks_at_all()) look_for_discarded(ring);
}

}  // namespace blip::session
