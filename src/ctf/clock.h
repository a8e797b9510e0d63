// SPDX-License-Identifier: MIT
#pragma once

#include <time.h>

#include <cstdint>
#include <deque>

#include "machine/instructions.h"

namespace blip::ctf {

// One reading of both clocks at (nearly) the same moment.
struct ClockPair {
  uint64_t tsc = 0;
  uint64_t ns = 0;
};

// A straight piece of the map from cycles to nanoseconds.
struct ClockSegment {
  static constexpr int kShift = 48;
  __extension__ using Wide = unsigned __int128;

  uint64_t tsc = 0;   // where it begins
  uint64_t span = 0;  // cycles
  uint64_t ns = 0;
  uint64_t rate = 0;  // ns per cycle, times 2^kShift

  uint64_t at(uint64_t t) const { return ns + scaled(t - tsc); }
  uint64_t scaled(uint64_t cycles) const {
    return static_cast<uint64_t>(static_cast<Wide>(cycles) * rate >> kShift);
  }
  // Through both points; `to` is later.
  static ClockSegment between(ClockPair from, ClockPair to);
};

// The map itself, from pairs in the order they were sampled. Pure: no clock is read here.
class ClockMap {
 public:
  // Continuous and monotonic from the first pair to the last; beyond them the nearest good rate goes on.
  uint64_t to_ns(uint64_t tsc) const {
    if (tsc - last_.tsc < last_.span) [[likely]]
      return last_.at(tsc);
    return outside_last(tsc);
  }

  // A pair earlier than the last is ignored, unless the cycle counter was set back (suspend): then the map
  // starts anew.
  void add(ClockPair pair);

  double cycles_per_second() const;

 private:
  // Older rounds still wanted: records that waited behind an unfinished one in a shared ring.
  static constexpr size_t kHistory = 1024;
  static constexpr uint64_t kRateBaseline = 1'000'000'000;  // ns

  uint64_t outside_last(uint64_t tsc) const;
  uint64_t long_rate(ClockPair pair) const;

  ClockSegment last_;
  ClockSegment beyond_;  // from the last pair on
  std::deque<ClockSegment> older_;
  bool any_ = false;
};

// The clocks of this machine. Tests use their own with the same members.
struct HostClocks {
  bool counter_is_monotonic = false;  // records carry CLOCK_MONOTONIC itself, not cycles

  static uint64_t tsc() { return machine::read_counter(); }
  static uint64_t monotonic_ns() { return read(CLOCK_MONOTONIC); }
  static uint64_t realtime_ns() { return read(CLOCK_REALTIME); }

 private:
  static uint64_t read(clockid_t id) {
    timespec t;
    ::clock_gettime(id, &t);
    return uint64_t(t.tv_sec) * 1'000'000'000 + uint64_t(t.tv_nsec);
  }
};

// Cycle timestamps to CLOCK_MONOTONIC, following the clock's slew. Construct it before arming (it takes less
// than a millisecond). Each drain round: note the rings' positions, sample(), then convert the records before
// the positions: they lie between the last two samples, where the map is exact to the width of a reading and
// never changes afterwards.
template <typename Clocks = HostClocks>
class BasicTscClock {
 public:
  explicit BasicTscClock(Clocks clocks = Clocks()) : clocks_(clocks) {
    const ClockPair begin = read();
    map_.add(begin);
    while (clocks_.monotonic_ns() - begin.ns < kCalibration) {
    }
    sample();
  }

  // For records that another process had made since `start`, a pair it read.
  BasicTscClock(Clocks clocks, ClockPair start) : clocks_(clocks) {
    map_.add(start);
    sample();
  }

  // Returns the pair; no record drained in this round may have a later cycle count.
  ClockPair sample() {
    const ClockPair pair = read();
    map_.add(pair);
    return pair;
  }

  uint64_t to_ns(uint64_t tsc) const { return map_.to_ns(tsc); }
  double cycles_per_second() const { return map_.cycles_per_second(); }
  const Clocks& clocks() const { return clocks_; }

  // CLOCK_REALTIME - CLOCK_MONOTONIC now, in ns.
  int64_t realtime_offset() const {
    uint64_t best_width = ~uint64_t{0};
    int64_t offset = 0;
    for (int i = 0; i < kReadings; ++i) {
      const uint64_t before = clocks_.monotonic_ns();
      const uint64_t real = clocks_.realtime_ns();
      const uint64_t width = clocks_.monotonic_ns() - before;
      if (width >= best_width) continue;
      best_width = width;
      offset = int64_t(real) - int64_t(before + width / 2);
    }
    return offset;
  }

 private:
  static constexpr int kReadings = 8;
  static constexpr uint64_t kCalibration = 500'000;  // ns

  // The tightest of several readings: an interrupt or a migration between the two clocks shows as a wide one.
  ClockPair read() const {
    if constexpr (requires { clocks_.counter_is_monotonic; }) {
      const uint64_t ns = clocks_.monotonic_ns();
      if (clocks_.counter_is_monotonic) return {ns, ns};
    }
    uint64_t best_width = ~uint64_t{0};
    ClockPair best;
    for (int i = 0; i < kReadings; ++i) {
      const uint64_t before = clocks_.tsc();
      const uint64_t ns = clocks_.monotonic_ns();
      const uint64_t width = clocks_.tsc() - before;
      if (width >= best_width) continue;
      best_width = width;
      best = {before + width / 2, ns};
    }
    return best;
  }

  Clocks clocks_;
  ClockMap map_;
};

using TscClock = BasicTscClock<>;

}  // namespace blip::ctf
