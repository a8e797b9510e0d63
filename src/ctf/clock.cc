// SPDX-License-Identifier: MIT
#include "ctf/clock.h"

#include <algorithm>

namespace blip::ctf {

namespace {

// A cycle counter that is behind although this much time passed was set back; less is a difference between
// CPUs.
constexpr uint64_t kSetBack = 1'000'000;  // ns

}  // namespace

ClockSegment ClockSegment::between(ClockPair from, ClockPair to) {
  const uint64_t cycles = to.tsc - from.tsc;
  const auto scaled_ns = static_cast<Wide>(to.ns - from.ns) << kShift;
  return {from.tsc, cycles, from.ns, static_cast<uint64_t>(scaled_ns / cycles)};
}

void ClockMap::add(ClockPair pair) {
  const ClockPair previous{last_.tsc + last_.span, beyond_.ns};
  if (!any_ || (pair.tsc <= previous.tsc && pair.ns > previous.ns + kSetBack)) {
    // The first pair, or the first after the counter was set back: a rate is known at best from before.
    older_.clear();
    last_ = beyond_ = {pair.tsc, 0, pair.ns, beyond_.rate};
    any_ = true;
    return;
  }
  if (pair.tsc <= previous.tsc || pair.ns < previous.ns) return;
  if (last_.span != 0) older_.push_back(last_);
  if (older_.size() > kHistory) older_.pop_front();
  last_ = ClockSegment::between(previous, pair);
  beyond_ = {pair.tsc, 0, pair.ns, long_rate(pair)};
}

// From the youngest pair that is kRateBaseline old to `pair`; a single short segment would magnify the
// readings' noise.
uint64_t ClockMap::long_rate(ClockPair pair) const {
  if (older_.empty()) return last_.rate;
  const uint64_t wanted = pair.ns - std::min(pair.ns, kRateBaseline);
  auto start = std::upper_bound(older_.begin(), older_.end(), wanted,
                                [](uint64_t ns, const ClockSegment& segment) { return ns < segment.ns; });
  if (start != older_.begin()) --start;
  return ClockSegment::between({start->tsc, start->ns}, pair).rate;
}

uint64_t ClockMap::outside_last(uint64_t tsc) const {
  if (tsc >= beyond_.tsc) return beyond_.at(tsc);
  auto segment = std::upper_bound(older_.begin(), older_.end(), tsc,
                                  [](uint64_t t, const ClockSegment& s) { return t < s.tsc; });
  if (segment != older_.begin()) return std::prev(segment)->at(tsc);
  // Before the first pair kept.
  const ClockSegment& first = older_.empty() ? last_ : older_.front();
  const uint64_t back = first.scaled(first.tsc - tsc);
  return first.ns - std::min(first.ns, back);
}

double ClockMap::cycles_per_second() const {
  return beyond_.rate == 0 ? 0 : 1e9 * double(uint64_t{1} << ClockSegment::kShift) / double(beyond_.rate);
}

}  // namespace blip::ctf
