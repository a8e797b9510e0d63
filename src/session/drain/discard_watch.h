// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "abi/layout.h"
#include "session/drain/buffer_need.h"
#include "session/drain/discard_marks.h"

namespace blip::session {

// Finds out from the counters of a region how many hits were discarded, where, and how large the rings should
// have been. Rows are the rings, and behind them the shared ring.
class DiscardWatch {
 public:
  // `record_sizes`: by class id, as in ring/record_size.h. It and the region outlive this.
  DiscardWatch(const abi::Geometry& geometry, uint8_t* region, std::span<const uint32_t> record_sizes);

  struct Discarded {
    uint64_t hits = 0;
    uint64_t bytes = 0;  // that they would have taken, at most
  };

  // So many hits were discarded since the beginning. The caller looks for their place afterwards: what is
  // counted was discarded in front of it.
  Discarded count(uint32_t row) const;
  void note(uint32_t row, uint64_t place, const Discarded& found);
  // Before a drain: so many bytes of records wait.
  void waiting(uint32_t row, uint64_t bytes) { needs_[row].waiting(bytes); }
  DiscardMarks& marks(uint32_t row) { return marks_[row]; }
  // Bytes that a ring should have had; 0: nothing was discarded.
  uint64_t ring_needed() const;

 private:
  abi::Geometry geometry_;
  uint8_t* region_;
  std::span<const uint32_t> record_sizes_;
  std::vector<DiscardMarks> marks_;  // by row: positions in the ring; of the shared ring, times
  std::vector<BufferNeed> needs_;    // by row
};

}  // namespace blip::session
