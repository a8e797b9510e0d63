// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

#include "ring/histogram.h"

namespace blip::session {

// The totals of the calls of one function, in one process or in several.
struct CallTotals {
  ring::Histogram latencies;         // of those that returned
  uint64_t abandoned = 0;            // that will never return
  std::optional<uint64_t> open = 0;  // that had not returned in the end; none: not known

  CallTotals& operator+=(const CallTotals& other) {
    latencies += other.latencies;
    abandoned += other.abandoned;
    if (open && other.open) {
      *open += *other.open;
    } else {
      open.reset();
    }
    return *this;
  }
};

}  // namespace blip::session
