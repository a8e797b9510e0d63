// SPDX-License-Identifier: MIT
#include "ring/latency_reader.h"

namespace blip::ring {

uint64_t LatencyReader::load(uint64_t offset) const {
  return __atomic_load_n(reinterpret_cast<const uint64_t*>(region_ + offset), __ATOMIC_RELAXED);
}

void LatencyReader::add_row(uint32_t row, uint32_t class_id, Histogram& to) const {
  const uint64_t totals = geometry_.latency_totals_offset(row, class_id);
  const uint64_t buckets = geometry_.latency_buckets_offset(row, class_id);
  const uint64_t sum = load(totals + offsetof(abi::LatencyTotals, sum)) - abi::kLatencyBias;
  const bool is_cpu = row < geometry_.ring_count;
  if (is_cpu && sum == 0 && load(buckets) == 0) return;  // never used: reading more would take memory
  to.add_totals(sum, load(totals + offsetof(abi::LatencyTotals, max)));
  for (uint32_t i = 0; i < abi::kLatencyBuckets; ++i) to.add_bucket(i, load(buckets + uint64_t{i} * 8));
}

Histogram LatencyReader::class_latencies(uint32_t class_id) const {
  Histogram all;
  if (!geometry_.latencies || class_id >= geometry_.class_count) return all;
  for (uint32_t row = 0; row <= geometry_.ring_count; ++row) add_row(row, class_id, all);
  return all;
}

}  // namespace blip::ring
