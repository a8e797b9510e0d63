// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "abi/layout.h"
#include "ring/histogram.h"

namespace blip::ring {

// Reads the latencies of a data region, which a hostile target can make any number; cheap to make.
class LatencyReader {
 public:
  LatencyReader(const abi::Geometry& geometry, const uint8_t* region)
      : geometry_(geometry), region_(region) {}

  // Over all rows, in units of the clock.
  Histogram class_latencies(uint32_t class_id) const;

 private:
  void add_row(uint32_t row, uint32_t class_id, Histogram& to) const;
  uint64_t load(uint64_t offset) const;

  abi::Geometry geometry_;
  const uint8_t* region_;
};

}  // namespace blip::ring
