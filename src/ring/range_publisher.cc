// SPDX-License-Identifier: MIT
#include "ring/range_publisher.h"

#include <algorithm>

#include "base/check.h"

namespace blip::ring {

namespace {

// The next publication uses the other table, and is never called 0.
uint32_t next_publication(uint32_t publication) {
  const uint32_t next = publication + 1;
  return next != 0 ? next : abi::kRangeTables;
}

}  // namespace

RangePublisher::RangePublisher(const abi::Geometry& geometry, uint8_t* region)
    : control_(reinterpret_cast<abi::RangeControl*>(region + geometry.ranges_offset())) {
  CHECK(geometry.ranges);
}

// The word first: a call is counted as under way before it changes the word. Whether they are closed last:
// who closes them is counted until after that, and who comes later changes the word no more.
std::optional<RangePublisher::Look> RangePublisher::begin() const {
  const uint64_t word = __atomic_load_n(&control_->word, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&control_->pending, __ATOMIC_SEQ_CST) != 0 || is_closed()) return std::nullopt;
  return Look{word};
}

bool RangePublisher::publish(const Look& look, std::span<const AddrRange> ranges, TargetAddr heap_end) {
  const uint32_t publication = next_publication(abi::range_publication(look.word));
  abi::RangeTable& table = control_->tables[abi::range_table(publication)];
  const auto count = static_cast<uint32_t>(std::min<size_t>(ranges.size(), abi::kMaxRanges));
  for (uint32_t i = 0; i < count; ++i) {
    __atomic_store_n(&table.ranges[i].start, ranges[i].begin.value, __ATOMIC_RELAXED);
    __atomic_store_n(&table.ranges[i].end, ranges[i].end.value, __ATOMIC_RELAXED);
  }
  __atomic_store_n(&table.count, count, __ATOMIC_RELAXED);
  __atomic_store_n(&table.heap_end, heap_end.value, __ATOMIC_RELAXED);
  uint64_t expected = look.word;
  const uint64_t generation = look.word & ~(abi::kRangeGeneration - 1);
  return __atomic_compare_exchange_n(&control_->word, &expected, generation | publication, false,
                                     __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

uint64_t RangePublisher::misses() const { return __atomic_load_n(&control_->misses, __ATOMIC_RELAXED); }

bool RangePublisher::is_closed() const { return __atomic_load_n(&control_->closed, __ATOMIC_SEQ_CST) != 0; }

}  // namespace blip::ring
