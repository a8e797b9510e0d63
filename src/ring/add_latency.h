// SPDX-License-Identifier: MIT
// A latency into the row that all CPUs share: what pads leave to the runtime where restartable sequences
// cannot be used. Runs inside the target: freestanding, no locks held, nothing lost whoever comes in between.
#pragma once

#include "ring/writer.h"

namespace blip::ring {

// The first hit in a fork's child that nobody announced opens its gate, as at a counting probe.
inline uint32_t counting_gate(uint8_t* home) {
  abi::GatePage* page = gate_page_of(home);
  uint32_t gate = __atomic_load_n(&page->gate, __ATOMIC_RELAXED);
  if (gate != abi::kGateClosed) return gate;
  gate = shared_at<const abi::DataHeader>(home, 0)->unannounced_gate;
  if (gate != abi::kGateClosed) __atomic_store_n(&page->gate, gate, __ATOMIC_RELAXED);
  return gate;
}

// `control` is the channel region.
inline void add_latency(uint8_t* control, uint32_t class_id, uint64_t latency) {
  const uint32_t gate = counting_gate(home_of(control));
  if ((gate & abi::kGateOpen) == 0) {
    if ((gate & abi::kGateIgnored) == 0) count_hit(control, abi::kSkipped, class_id);
    return;
  }
  const auto* header = shared_at<const abi::DataHeader>(control, 0);
  const abi::Geometry g{
      .ring_count = header->ring_count, .class_count = header->class_count, .latencies = true};
  uint8_t* row = control + header->area(abi::AreaId::kLatencies).offset + g.ring_count * g.latency_row_size();
  auto* totals = shared_at<abi::LatencyTotals>(row, class_id * sizeof(abi::LatencyTotals));
  uint64_t max = __atomic_load_n(&totals->max, __ATOMIC_RELAXED);
  while (latency > max && !__atomic_compare_exchange_n(&totals->max, &max, latency, false, __ATOMIC_RELAXED,
                                                       __ATOMIC_RELAXED)) {
  }
  __atomic_fetch_add(&totals->sum, latency, __ATOMIC_RELAXED);
  auto* buckets =
      shared_at<uint64_t>(row, g.latency_totals_size() + uint64_t{class_id} * abi::kLatencyBuckets * 8);
  __atomic_fetch_add(buckets + abi::latency_bucket(latency), 1, __ATOMIC_RELAXED);
}

}  // namespace blip::ring
