// SPDX-License-Identifier: MIT
// The target's half of the valid ranges: what a thread does before and after a call that takes memory away,
// and how a read finds its range. Runs inside the target (runtime blob): freestanding, no locks, a bounded
// number of steps. docs/design/safe_reads.md has the protocol.
#pragma once

#include "abi/layout.h"
#include "machine/instructions.h"
#include "ring/readers.h"
#include "ring/system_calls.h"
#include "ring/writer.h"

namespace blip::ring {

inline abi::RangeControl* range_control(uint8_t* control) {
  const uint64_t offset = area_of(control, abi::AreaId::kRanges).offset;
  return offset == 0 ? nullptr : shared_at<abi::RangeControl>(control, offset);
}

// Only in the process whose memory the ranges are.
inline abi::RangeControl* own_range_control(uint8_t* control) {
  const auto* page = shared_at<const abi::GatePage>(control - abi::kGatePageSize, 0);
  return __atomic_load_n(&page->own_ranges, __ATOMIC_RELAXED) == 1 ? range_control(control) : nullptr;
}

// membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ): whatever section of this process is running starts over.
// Once pads may make no system calls any more, whoever forbade them has cut everything and done this before.
inline void restart_sections(uint8_t* control) {
  constexpr long kPrivateExpeditedRseq = 1 << 7;
  auto* page = shared_at<abi::GatePage>(control - abi::kGatePageSize, 0);
  if (!begin_own_call(page)) return;
  machine::system_call_4(machine::kSysMembarrier, kPrivateExpeditedRseq, 0, 0, 0);
  end_own_call(page);
}

// The number of ranges that start at or below `addr`.
inline uint32_t ranges_from(const abi::RangeTable& table, uint64_t addr) {
  const uint32_t count = __atomic_load_n(&table.count, __ATOMIC_RELAXED);
  uint32_t low = 0, high = count < abi::kMaxRanges ? count : abi::kMaxRanges;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (__atomic_load_n(&table.ranges[middle].start, __ATOMIC_RELAXED) <= addr)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// Takes [begin, end) out of a range: what lies behind it is given up too. True: there was something.
inline bool cut_range(abi::ValidRange& range, uint64_t begin) {
  const uint64_t limit = begin > range.start ? begin : 0;
  uint64_t end = __atomic_load_n(&range.end, __ATOMIC_ACQUIRE);
  while (end > limit)
    if (__atomic_compare_exchange_n(&range.end, &end, limit, false, __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE))
      return true;
  return false;
}

inline bool cut_ranges(abi::RangeTable& table, uint64_t begin, uint64_t end) {
  bool cut = false;
  if (begin >= end) return cut;
  for (uint32_t i = ranges_from(table, end - 1); i-- > 0;) {
    abi::ValidRange& range = table.ranges[i];
    cut |= cut_range(range, begin);
    if (range.start <= begin) break;
  }
  return cut;
}

// A call that takes memory away, from its announcement on: until end_unmap() nothing is published, so that
// `table` stays the one that readers look at. No table: nobody reads without asking the kernel.
struct Unmapping {
  abi::RangeControl* ranges = nullptr;
  abi::RangeTable* table = nullptr;
  uint32_t publication = 0;
};

inline Unmapping announce_unmap(uint8_t* control) {
  abi::RangeControl* ranges = own_range_control(control);
  if (ranges == nullptr) return {};
  __atomic_fetch_add(&ranges->pending, 1, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&ranges->closed, __ATOMIC_SEQ_CST) != 0) {
    __atomic_fetch_sub(&ranges->pending, 1, __ATOMIC_SEQ_CST);
    return {};
  }
  const uint64_t word = __atomic_fetch_add(&ranges->word, abi::kRangeGeneration, __ATOMIC_SEQ_CST);
  return {ranges, &ranges->tables[abi::range_table(word)], abi::range_publication(word)};
}

// True if no section can be at it, where nothing was cut. Another thread may have cut it, or have given it up
// with what lies before it: then its membarrier has been, for it is counted until after it, and what was read
// at that time is seen. So is what was read by an earlier publication, after a first membarrier of this one.
inline bool is_left(const Unmapping& unmapping, const Taken& taken) {
  const abi::RangeControl& ranges = *unmapping.ranges;
  return __atomic_load_n(&ranges.pending, __ATOMIC_SEQ_CST) == 1 &&
         __atomic_load_n(&ranges.settled, __ATOMIC_SEQ_CST) == unmapping.publication &&
         !may_be_read(ranges, taken);
}

// Cuts it, and returns when no section reads there any more.
inline void leave(uint8_t* control, const Unmapping& unmapping, const Taken& taken) {
  bool cut = cut_ranges(*unmapping.table, taken.begin, taken.end);
  cut |= cut_ranges(*unmapping.table, taken.other_begin, taken.other_end);
  if (!cut && is_left(unmapping, taken)) return;
  restart_sections(control);
  if (own_range_control(control) == nullptr) return;  // a handler has forked: this is the child
  __atomic_store_n(&unmapping.ranges->settled, unmapping.publication, __ATOMIC_SEQ_CST);
  await_readers(control, *unmapping.ranges, taken);
}

// To be called before memory [begin, end) is taken away, or may be. True: end_unmap() must follow once it is;
// where it does not, reads that find no range go the slow way for ever.
inline bool begin_unmap(uint8_t* control, uint64_t begin, uint64_t end) {
  const Unmapping unmapping = announce_unmap(control);
  if (unmapping.table == nullptr) return false;
  leave(control, unmapping, {.begin = begin, .end = end});
  return true;
}

inline void end_unmap(uint8_t* control) {
  __atomic_fetch_sub(&range_control(control)->pending, 1, __ATOMIC_SEQ_CST);
}

// From now on every read asks the kernel: what takes memory away can no longer be seen, or membarrier no
// longer be called.
inline void close_ranges(uint8_t* control) {
  if (!begin_unmap(control, 0, UINT64_MAX)) return;
  __atomic_store_n(&range_control(control)->closed, 1, __ATOMIC_SEQ_CST);
  end_unmap(control);
}

// Finds the range that holds `addr` and leaves it as a hint for sections. False: there is none; counted.
inline bool find_range(uint8_t* control, uint64_t addr, uint32_t hint) {
  abi::RangeControl* ranges = own_range_control(control);
  if (ranges == nullptr) return false;
  const uint32_t publication = abi::range_publication(__atomic_load_n(&ranges->word, __ATOMIC_ACQUIRE));
  const abi::RangeTable& table = ranges->tables[abi::range_table(publication)];
  const uint32_t index = publication == 0 ? 0 : ranges_from(table, addr);
  if (index == 0 || addr >= __atomic_load_n(&table.ranges[index - 1].end, __ATOMIC_ACQUIRE)) {
    __atomic_fetch_add(&ranges->misses, 1, __ATOMIC_RELAXED);
    return false;
  }
  const auto offset =
      static_cast<uint64_t>(reinterpret_cast<const uint8_t*>(&table.ranges[index - 1]) - control);
  auto* hints = shared_at<uint64_t>(control - abi::kGatePageSize, abi::kRangeHintsOffset);
  __atomic_store_n(&hints[hint % abi::kRangeHints], offset << 32 | publication, __ATOMIC_RELEASE);
  return true;
}

}  // namespace blip::ring
