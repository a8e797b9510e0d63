// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

namespace blip::ring {

// Latencies, exact in number, sum and largest; other values are known up to the bucket they fell into
// (abi/latency.h). In whatever unit they are given. Takes no memory before the first value.
class Histogram {
 public:
  void add(uint64_t latency);
  // From the target's memory, which may be lying: `bucket` is below abi::kLatencyBuckets.
  void add_bucket(uint32_t bucket, uint64_t count);
  void add_totals(uint64_t sum, uint64_t max);
  Histogram& operator+=(const Histogram& other);

  uint64_t count() const { return count_; }
  uint64_t sum() const { return sum_; }
  uint64_t max() const { return max_; }
  // A value that `percent` of all do not exceed: never below the true one, at most 1/8 above it. 0: no
  // values.
  uint64_t percentile(unsigned percent) const;

 private:
  std::vector<uint64_t> buckets_;
  uint64_t count_ = 0, sum_ = 0, max_ = 0;
};

}  // namespace blip::ring
