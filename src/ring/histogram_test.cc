// SPDX-License-Identifier: MIT
#include "ring/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "ring/add_latency.h"
#include "ring/counters.h"
#include "ring/latency_reader.h"
#include "ring/test_region.h"

namespace blip::ring {
namespace {

constexpr uint64_t kLargest = (uint64_t{1} << abi::kLatencyBits) - 1;

TEST(Histogram, buckets_follow_each_other_without_a_gap) {
  uint64_t first = 0;
  for (uint32_t bucket = 0; bucket < abi::kLatencyBuckets; ++bucket) {
    const uint64_t last = abi::latency_bucket_last(bucket);
    EXPECT_EQ(abi::latency_bucket(first), bucket);
    EXPECT_EQ(abi::latency_bucket(last), bucket);
    EXPECT_LE(last - first, first / 8);
    first = last + 1;
  }
  EXPECT_EQ(first, kLargest + 1);
}

TEST(Histogram, knows_exactly_what_it_can) {
  Histogram h;
  EXPECT_EQ(h.count() + h.sum() + h.max() + h.percentile(50) + h.percentile(99), 0u);
  for (uint64_t value : {3, 1000, 7}) h.add(value);
  EXPECT_EQ(h.count(), 3u);
  EXPECT_EQ(h.sum(), 1010u);
  EXPECT_EQ(h.max(), 1000u);
  EXPECT_EQ(h.percentile(0), 3u);
  EXPECT_EQ(h.percentile(50), 7u);
  EXPECT_EQ(h.percentile(100), 1000u);
}

TEST(Histogram, of_zeros_and_of_the_largest) {
  Histogram zeros, large;
  zeros.add(0);
  EXPECT_EQ(zeros.count(), 1u);
  EXPECT_EQ(zeros.percentile(99), 0u);
  large.add(kLargest);
  large.add(UINT64_MAX);
  EXPECT_EQ(large.count(), 2u);
  EXPECT_EQ(large.percentile(1), kLargest);
}

TEST(Histogram, percentiles_are_never_below_and_at_most_an_eighth_above_those_of_a_sorted_list) {
  std::mt19937_64 random(7);
  for (const unsigned bits : {3, 5, 12, 30, 47}) {
    for (const size_t size : {1, 2, 99, 100, 101, 5000}) {
      Histogram h;
      std::vector<uint64_t> values;
      for (size_t i = 0; i < size; ++i) {
        values.push_back(random() >> (64 - 1 - random() % bits));
        h.add(values.back());
      }
      std::sort(values.begin(), values.end());
      for (unsigned percent = 1; percent <= 100; ++percent) {
        const uint64_t exact = values[(size * percent + 99) / 100 - 1];
        EXPECT_GE(h.percentile(percent), exact) << bits << " bits, " << size << " values, " << percent;
        EXPECT_LE(h.percentile(percent), exact + exact / 8)
            << bits << " bits, " << size << " values, " << percent;
      }
    }
  }
}

TEST(Histogram, sums_of_histograms_are_those_of_all_values) {
  Histogram a, b, both;
  for (uint64_t i = 0; i < 1000; ++i) {
    (i % 3 == 0 ? a : b).add(i * i);
    both.add(i * i);
  }
  a += b;
  a += Histogram();
  EXPECT_EQ(a.count(), both.count());
  EXPECT_EQ(a.sum(), both.sum());
  EXPECT_EQ(a.max(), both.max());
  for (unsigned percent : {1, 50, 99}) EXPECT_EQ(a.percentile(percent), both.percentile(percent));
}

TEST(Histogram, a_region_has_room_for_so_many_and_no_more) {
  abi::Geometry g{.ring_count = 2, .latencies = true};
  const auto most = static_cast<uint32_t>(abi::kMaxLatencyBytes / 3 / (abi::kLatencyBuckets * 8 + 16));
  g.class_count = most - 10;
  EXPECT_TRUE(is_valid(g));
  g.class_count = most + 10;
  EXPECT_FALSE(is_valid(g));
  g.latencies = false;
  EXPECT_TRUE(is_valid(g));
}

TEST(Histogram, what_the_runtime_adds_is_what_the_reader_finds) {
  const TestRegion region({.ring_count = 3, .class_count = 5, .latencies = true});
  const uint64_t values[] = {0, 15, 16, 1000, kLargest};
  Histogram expected;
  for (uint64_t value : values) {
    add_latency(region.region(), 4, value);
    expected.add(value);
  }
  const LatencyReader reader(region.geometry(), region.region());
  const Histogram found = reader.class_latencies(4);
  EXPECT_EQ(found.count(), expected.count());
  EXPECT_EQ(found.sum(), expected.sum());
  EXPECT_EQ(found.max(), expected.max());
  for (unsigned percent : {20, 40, 60, 80, 100})
    EXPECT_EQ(found.percentile(percent), expected.percentile(percent));
  for (uint32_t other : {0u, 2u, 3u, 5u, 1000u}) EXPECT_EQ(reader.class_latencies(other).count(), 0u);
}

}  // namespace
}  // namespace blip::ring
