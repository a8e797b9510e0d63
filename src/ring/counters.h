// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "abi/layout.h"

namespace blip::ring {

// The counts of pads and runtime. A hostile target can make these any number, also a smaller one than before.
struct CounterTotals {
  uint64_t discarded = 0;
  uint64_t skipped = 0;    // the unpaired ones too
  uint64_t hits = 0;       // counting mode only
  uint64_t abandoned = 0;  // calls that return probes saw no return of
  uint64_t unpaired = 0;   // abi::kUnpaired

  CounterTotals& operator+=(const CounterTotals& other) {
    discarded += other.discarded;
    skipped += other.skipped;
    hits += other.hits;
    abandoned += other.abandoned;
    unpaired += other.unpaired;
    return *this;
  }
};

// Reads the counters of a data region; cheap to make, holds no state. Row r < ring_count is CPU r, row
// ring_count is the shared ring.
class CounterReader {
 public:
  CounterReader(const abi::Geometry& geometry, const uint8_t* region)
      : geometry_(geometry), region_(region) {}

  uint64_t read(abi::CounterKind kind, uint32_t row, uint32_t class_id) const;
  CounterTotals totals(uint32_t row, uint32_t class_id) const;
  CounterTotals class_totals(uint32_t class_id) const;  // over all rows
  CounterTotals row_totals(uint32_t row) const;         // over all classes
  CounterTotals totals() const;

 private:
  abi::Geometry geometry_;
  const uint8_t* region_;
};

}  // namespace blip::ring
