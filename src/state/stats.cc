// SPDX-License-Identifier: MIT
#include "state/stats.h"

#include "state/histogram.h"

namespace blip::state {

namespace {

bool is_less(const MapType& type, uint64_t a, uint64_t b) {
  return type.is_unsigned ? a < b : static_cast<int64_t>(a) < static_cast<int64_t>(b);
}

// The count is not -1: nothing has that many numbers.
uint64_t average(const MapType& type, uint64_t sum, uint64_t count) {
  if (type.is_unsigned) return sum / count;
  return static_cast<uint64_t>(static_cast<int64_t>(sum) / static_cast<int64_t>(count));
}

// a / b, cut towards 0; 0 of 0.
uint64_t divide(uint64_t a, uint64_t b) {
  const auto n = static_cast<int64_t>(a), by = static_cast<int64_t>(b);
  if (by == 0) return 0;
  return by == -1 ? 0 - a : static_cast<uint64_t>(n / by);
}

// The count has the new value already.
void add_variance(const MapType& type, Stats& s, uint64_t value) {
  const uint64_t shifted = value << type.variance_shift;
  if (s.count == 1) {
    s.mean = shifted;
    return;
  }
  const uint64_t delta = shifted - s.mean;
  s.mean += divide(delta, s.count);
  s.squares += delta * (shifted - s.mean);
}

// The mean is inexact by what divisions have cut off. Of scalars that is put right by the exact one, as SystemTap does.
uint64_t variance(const MapType& type, const Stats& s) {
  const uint64_t exact = divide(s.sum << type.variance_shift, s.count);
  const uint64_t off = type.key.empty() ? s.mean - exact : 0;
  const uint64_t all =
      s.count * off * off + (s.count < 2 ? 0 : (s.count - 1) * divide(s.squares, s.count - 1));
  return static_cast<uint64_t>(static_cast<int64_t>(divide(all, s.count - 1)) >> 2 * type.variance_shift);
}

}  // namespace

void Stats::add(const MapType& type, uint64_t value) {
  if (count == 0 || is_less(type, value, min)) min = value;
  if (count == 0 || is_less(type, max, value)) max = value;
  ++count;
  sum += value;
  if (type.has_variance) add_variance(type, *this, value);
  if (type.histogram.kind == Histogram::Kind::kNone) return;
  if (buckets.empty()) buckets.resize(count_buckets(type.histogram));
  ++buckets[bucket_of(type.histogram, static_cast<int64_t>(value))];
}

std::optional<uint64_t> Stats::get(const MapType& type, Statistic what) const {
  if (what == Statistic::kCount) return count;
  if (what == Statistic::kSum) return sum;
  if (count == 0) return std::nullopt;
  if (what == Statistic::kMin) return min;
  if (what == Statistic::kVariance) return variance(type, *this);
  return what == Statistic::kMax ? max : average(type, sum, count);
}

}  // namespace blip::state
