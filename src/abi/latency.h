// SPDX-License-Identifier: MIT
// How long calls took, kept in the shared region: a histogram for each function and CPU, whose buckets are a
// constant part of the value wide. See docs/design/returns.md.
#pragma once

#include <cstdint>

namespace blip::abi {

// Each power of two has 8 buckets; below 16 each value has its own. Latencies have 48 bits, like times.
inline constexpr unsigned kLatencySubBits = 3;
inline constexpr unsigned kLatencyBits = 48;
inline constexpr uint32_t kLatencyBuckets = (kLatencyBits - kLatencySubBits + 1) << kLatencySubBits;

constexpr uint32_t latency_bucket(uint64_t latency) {
  uint32_t shift = 0;
  while (latency >> shift >> (kLatencySubBits + 1) != 0) ++shift;
  return (shift << kLatencySubBits) + static_cast<uint32_t>(latency >> shift);
}

// The largest value that belongs to it.
constexpr uint64_t latency_bucket_last(uint32_t bucket) {
  constexpr uint32_t kExact = 2u << kLatencySubBits, kOctave = 1u << kLatencySubBits;
  if (bucket < kExact) return bucket;
  const uint32_t shift = bucket / kOctave - 1;
  return ((uint64_t{kOctave} + bucket % kOctave + 1) << shift) - 1;
}
static_assert(latency_bucket((uint64_t{1} << kLatencyBits) - 1) == kLatencyBuckets - 1);

// The totals that the buckets do not tell, for one function on one CPU. `sum` begins with kLatencyBias, which
// no latency has: by it a pad that was interrupted between sum and bucket knows that the sum is done
// (jit/latency.cc).
struct LatencyTotals {
  uint64_t sum;
  uint64_t max;
};
static_assert(sizeof(LatencyTotals) == 16);
inline constexpr uint64_t kLatencyBias = uint64_t{1} << 63;

}  // namespace blip::abi
