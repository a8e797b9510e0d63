// SPDX-License-Identifier: MIT
// Time as records carry it: 48 bits of the TSC (or of ns), made 64 bits wide against the present.
#pragma once

#include <time.h>

#include <cstdint>

#include "abi/layout.h"
#include "machine/instructions.h"

namespace blip::ring {

// The TSC, read after every earlier load and before every later one.
struct TscClock {
  uint64_t operator()() const { return machine::read_counter_in_order(); }
};

// The clock that records were stamped with: the TSC or CLOCK_MONOTONIC in ns.
struct RecordClock {
  bool monotonic = false;

  uint64_t operator()() const {
    if (!monotonic) return TscClock()();
    timespec now;
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
  }
};

// How far the TSCs of two CPUs may differ before a record counts as coming from the future (some
// milliseconds).
inline constexpr uint64_t kFutureSlack = uint64_t{1} << 24;
// rdtsc is not ordered: a step back by less than this is taken for a reordering and evened out, not for bad
// data.
inline constexpr uint64_t kReorderSlack = 4096;

// Widens 48-bit times to the latest moment not after `limit`, and tells how a time stands to the last one
// emitted. limit >= last always.
struct TimeWindow {
  uint64_t last;
  uint64_t limit;

  uint64_t age(uint64_t time48) const { return (limit - time48) & abi::kTimeMask; }
  bool in_order(uint64_t age) const { return age <= limit - last; }
  bool reordered(uint64_t age) const { return age - (limit - last) <= kReorderSlack; }
};

}  // namespace blip::ring
