// SPDX-License-Identifier: MIT
#include "ring/counters.h"

namespace blip::ring {

uint64_t CounterReader::read(abi::CounterKind kind, uint32_t row, uint32_t class_id) const {
  if (row > geometry_.ring_count || class_id >= geometry_.class_count) return 0;
  const uint8_t* counter = region_ + geometry_.counter_offset(kind, row, class_id);
  return __atomic_load_n(reinterpret_cast<const uint64_t*>(counter), __ATOMIC_RELAXED);
}

CounterTotals CounterReader::totals(uint32_t row, uint32_t class_id) const {
  const uint64_t unpaired = read(abi::kUnpaired, row, class_id);
  return {.discarded = read(abi::kDiscarded, row, class_id),
          .skipped = read(abi::kSkipped, row, class_id) + unpaired,
          .hits = read(abi::kHits, row, class_id),
          .abandoned = read(abi::kAbandoned, row, class_id),
          .unpaired = unpaired};
}

CounterTotals CounterReader::class_totals(uint32_t class_id) const {
  CounterTotals sum;
  for (uint32_t row = 0; row <= geometry_.ring_count; ++row) sum += totals(row, class_id);
  return sum;
}

CounterTotals CounterReader::row_totals(uint32_t row) const {
  CounterTotals sum;
  for (uint32_t id = 0; id < geometry_.class_count; ++id) sum += totals(row, id);
  return sum;
}

CounterTotals CounterReader::totals() const {
  CounterTotals sum;
  for (uint32_t row = 0; row <= geometry_.ring_count; ++row) sum += row_totals(row);
  return sum;
}

}  // namespace blip::ring
