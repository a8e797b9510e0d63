// SPDX-License-Identifier: MIT
#include "ring/histogram.h"

#include <algorithm>
#include <bit>

#include "abi/latency.h"

namespace blip::ring {

namespace {

__extension__ using Wide = unsigned __int128;

// The same as abi::latency_bucket(), faster.
uint32_t bucket_of(uint64_t latency) {
  constexpr unsigned kSub = abi::kLatencySubBits;
  const auto shift = static_cast<uint32_t>(std::bit_width(latency >> (kSub + 1)));
  return (shift << kSub) + static_cast<uint32_t>(latency >> shift);
}

}  // namespace

void Histogram::add(uint64_t latency) {
  add_bucket(std::min(bucket_of(latency), abi::kLatencyBuckets - 1), 1);
  add_totals(latency, latency);
}

void Histogram::add_bucket(uint32_t bucket, uint64_t count) {
  if (count == 0) return;
  if (buckets_.empty()) buckets_.resize(abi::kLatencyBuckets);
  buckets_[bucket] += count;
  count_ += count;
}

void Histogram::add_totals(uint64_t sum, uint64_t max) {
  sum_ += sum;
  max_ = std::max(max_, max);
}

Histogram& Histogram::operator+=(const Histogram& other) {
  for (uint32_t i = 0; i < other.buckets_.size(); ++i) add_bucket(i, other.buckets_[i]);
  add_totals(other.sum_, other.max_);
  return *this;
}

uint64_t Histogram::percentile(unsigned percent) const {
  const auto rank = static_cast<uint64_t>((Wide{count_} * percent + 99) / 100);
  uint64_t before = 0;
  for (uint32_t i = 0; i < buckets_.size(); ++i) {
    before += buckets_[i];
    if (before >= rank && before != 0) return std::min(abi::latency_bucket_last(i), max_);
  }
  return max_;
}

}  // namespace blip::ring
