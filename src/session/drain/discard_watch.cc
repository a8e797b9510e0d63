// SPDX-License-Identifier: MIT
#include "session/drain/discard_watch.h"

#include <algorithm>

#include "ctf/clock.h"
#include "ring/counters.h"
#include "ring/record_size.h"

namespace blip::session {

DiscardWatch::DiscardWatch(const abi::Geometry& geometry, uint8_t* region,
                           std::span<const uint32_t> record_sizes)
    : geometry_(geometry),
      region_(region),
      record_sizes_(record_sizes),
      marks_(geometry.ring_count + 1),
      needs_(geometry.ring_count, BufferNeed(geometry.ring_size())) {
  needs_.emplace_back(uint64_t{geometry.slot_count} * geometry.slot_size);
}

DiscardWatch::Discarded DiscardWatch::count(uint32_t row) const {
  const ring::CounterReader counters(geometry_, region_);
  Discarded sum;
  for (uint32_t id = 0; id < record_sizes_.size(); ++id) {
    const uint64_t hits = counters.read(abi::kDiscarded, row, id);
    sum.hits += hits;
    sum.bytes += hits * ring::most_size(record_sizes_[id]);
  }
  if (row == geometry_.ring_count) sum.bytes = sum.hits * geometry_.slot_size;
  return sum;
}

void DiscardWatch::note(uint32_t row, uint64_t place, const Discarded& found) {
  marks_[row].note({place, found.hits, ctf::HostClocks::monotonic_ns()});
  needs_[row].discarded(found.bytes);
}

uint64_t DiscardWatch::ring_needed() const {
  uint64_t most = 0;
  for (const BufferNeed& need : needs_) most = std::max(most, need.most());
  return most;
}

}  // namespace blip::session
