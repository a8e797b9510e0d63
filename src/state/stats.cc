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

}  // namespace

void Stats::add(const MapType& type, uint64_t value) {
  if (count == 0 || is_less(type, value, min)) min = value;
  if (count == 0 || is_less(type, max, value)) max = value;
  ++count;
  sum += value;
  if (type.histogram.kind == Histogram::Kind::kNone) return;
  if (buckets.empty()) buckets.resize(count_buckets(type.histogram));
  ++buckets[bucket_of(type.histogram, static_cast<int64_t>(value))];
}

std::optional<uint64_t> Stats::get(const MapType& type, Statistic what) const {
  if (what == Statistic::kCount) return count;
  if (what == Statistic::kSum) return sum;
  if (count == 0) return std::nullopt;
  if (what == Statistic::kMin) return min;
  return what == Statistic::kMax ? max : average(type, sum, count);
}

}  // namespace blip::state
