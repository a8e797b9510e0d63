// SPDX-License-Identifier: MIT
// Which parts of a region get memory, and when: addresses for all that may come cost nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "probe/inject/region.h"

namespace blip::probe {
namespace {

const std::vector<unsigned> kOnline = {0, 2};

abi::Geometry counting(uint32_t classes) {
  return {.ring_count = 4, .class_count = classes, .site_count = 2 * classes, .probe_count = classes};
}

uint64_t size_of(const std::vector<RegionPart>& parts) {
  return std::accumulate(parts.begin(), parts.end(), uint64_t{0},
                         [](uint64_t sum, const RegionPart& part) { return sum + part.size; });
}

bool covers(const std::vector<RegionPart>& parts, uint64_t offset, uint64_t size) {
  return std::any_of(parts.begin(), parts.end(), [&](const RegionPart& part) {
    return part.offset <= offset && offset + size <= part.offset + part.size;
  });
}

TEST(RegionParts, counters_of_classes_that_come_later_have_no_memory_at_first) {
  constexpr uint32_t kAll = 20'000, kFirst = 100;
  const abi::Geometry g = counting(kAll);
  const uint64_t few = size_of(live_parts(g, {}, kOnline, kFirst));
  const uint64_t all = size_of(live_parts(g, {}, kOnline, kAll));
  EXPECT_GT(all - few, g.area(abi::AreaId::kCounters).size * 9 / 10);
}

TEST(RegionParts, each_counter_has_memory_once_its_class_is_there) {
  constexpr uint32_t kAll = 3000, kFirst = 700;
  const abi::Geometry g = counting(kAll);
  const auto first = live_parts(g, {}, kOnline, kFirst);
  const auto later = counter_parts(g, kFirst, kAll);
  for (uint32_t kind = 0; kind < abi::kCounterKinds; ++kind)
    for (uint32_t row = 0; row < g.counter_rows(); ++row)
      for (const uint32_t id : {0U, kFirst - 1, kFirst, kAll - 1}) {
        const uint64_t at = g.counter_offset(static_cast<abi::CounterKind>(kind), row, id);
        EXPECT_TRUE(covers(id < kFirst ? first : later, at, sizeof(uint64_t)))
            << kind << " " << row << " " << id;
      }
  EXPECT_TRUE(counter_parts(g, kAll, kAll).empty());
}

TEST(RegionParts, what_only_blip_writes_has_memory_when_it_is_written) {
  const abi::Geometry g = counting(3000);
  const auto parts = live_parts(g, {}, kOnline, 3000);
  EXPECT_FALSE(covers(parts, g.pad_files_offset(), 1));
  EXPECT_FALSE(covers(parts, g.sites_offset() + abi::kPageSize, 1));
  EXPECT_TRUE(covers(parts, 0, sizeof(abi::DataHeader)));
  EXPECT_TRUE(covers(parts, g.switches_offset(), 3000));
}

}  // namespace
}  // namespace blip::probe
