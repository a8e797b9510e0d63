// SPDX-License-Identifier: MIT
#include "state/stats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "state/histogram.h"

namespace blip::state {
namespace {

using Kind = Histogram::Kind;
constexpr int64_t kLeast = INT64_MIN, kMost = INT64_MAX;

TEST(Histograms, numbers_fall_into_the_buckets_of_both_languages) {
  const Histogram hist{.kind = Kind::kHist}, fine{.kind = Kind::kHist, .bits = 2};
  const Histogram lhist{.kind = Kind::kLhist, .low = 0, .high = 100, .step = 10};
  const Histogram log{.kind = Kind::kHistLog};
  const Histogram linear{.kind = Kind::kHistLinear, .low = -20, .high = 20, .step = 10};
  const struct {
    Histogram histogram;
    int64_t value;
    size_t bucket;
  } cases[] = {
      {hist, kLeast, 0},  {hist, -1, 0},    {hist, 0, 1},       {hist, 1, 2},        {hist, 2, 3},
      {hist, 3, 3},       {hist, 4, 4},     {hist, 1023, 11},   {hist, 1024, 12},    {hist, kMost, 64},
      {fine, -1, 0},      {fine, 0, 1},     {fine, 3, 4},       {fine, 4, 5},        {fine, 7, 8},
      {fine, 8, 9},       {fine, 9, 9},     {fine, 10, 10},     {fine, 15, 12},      {fine, 16, 13},
      {lhist, kLeast, 0}, {lhist, -1, 0},   {lhist, 0, 1},      {lhist, 9, 1},       {lhist, 10, 2},
      {lhist, 99, 10},    {lhist, 100, 11}, {lhist, kMost, 11}, {log, 0, 64},        {log, 1, 65},
      {log, 2, 66},       {log, 3, 66},     {log, 4, 67},       {log, kMost, 127},   {log, -1, 63},
      {log, -2, 62},      {log, -3, 62},    {log, kLeast, 0},   {linear, kLeast, 0}, {linear, -21, 0},
      {linear, -20, 1},   {linear, -11, 1}, {linear, -10, 2},   {linear, 19, 4},     {linear, 20, 5},
      {linear, 29, 5},    {linear, 30, 6},  {linear, kMost, 6},
  };
  for (const auto& c : cases)
    EXPECT_EQ(bucket_of(c.histogram, c.value), c.bucket)
        << static_cast<int>(c.histogram.kind) << " " << c.histogram.bits << ": " << c.value;
}

TEST(Histograms, have_room_for_every_number) {
  const Histogram all[] = {{.kind = Kind::kHist},
                           {.kind = Kind::kHist, .bits = 5},
                           {.kind = Kind::kLhist, .low = -7, .high = 100, .step = 9},
                           {.kind = Kind::kLhist, .low = kLeast, .high = kMost, .step = kMost / 4},
                           {.kind = Kind::kHistLog},
                           {.kind = Kind::kHistLinear, .low = -7, .high = -7, .step = 1}};
  for (const Histogram& h : all) {
    size_t last = 0;
    for (const int64_t value :
         {kLeast, kLeast + 1, int64_t{-100}, int64_t{-7}, int64_t{-1}, int64_t{0}, int64_t{1}, int64_t{31},
          int64_t{32}, int64_t{99}, int64_t{1} << 40, kMost - 1, kMost}) {
      const size_t bucket = bucket_of(h, value);
      EXPECT_LT(bucket, count_buckets(h));
      EXPECT_GE(bucket, last) << "buckets are in the order of numbers";
      last = bucket;
    }
  }
  EXPECT_EQ(bucket_of(all[0], kMost), count_buckets(all[0]) - 1);
  EXPECT_EQ(bucket_of(all[1], kMost), count_buckets(all[1]) - 1);
}

TEST(Stats, of_signed_numbers) {
  const MapType type{.value = ValueType::kStats};
  Stats stats;
  EXPECT_EQ(stats.get(type, Statistic::kCount), 0U);
  EXPECT_EQ(stats.get(type, Statistic::kSum), 0U);
  EXPECT_EQ(stats.get(type, Statistic::kMin), std::nullopt);
  EXPECT_EQ(stats.get(type, Statistic::kAverage), std::nullopt);
  for (const int64_t value : {-4, -3, 0}) stats.add(type, static_cast<uint64_t>(value));
  EXPECT_EQ(stats.get(type, Statistic::kCount), 3U);
  EXPECT_EQ(stats.get(type, Statistic::kSum), static_cast<uint64_t>(-7));
  EXPECT_EQ(stats.get(type, Statistic::kMin), static_cast<uint64_t>(-4));
  EXPECT_EQ(stats.get(type, Statistic::kMax), 0U);
  EXPECT_EQ(stats.get(type, Statistic::kAverage), static_cast<uint64_t>(-2)) << "towards 0";
}

TEST(Stats, of_unsigned_numbers) {
  const MapType type{.value = ValueType::kStats, .is_unsigned = true};
  Stats stats;
  for (const uint64_t value : {uint64_t{1}, UINT64_MAX - 3}) stats.add(type, value);
  EXPECT_EQ(stats.get(type, Statistic::kMin), 1U);
  EXPECT_EQ(stats.get(type, Statistic::kMax), UINT64_MAX - 3);
  EXPECT_EQ(stats.get(type, Statistic::kAverage), (UINT64_MAX - 2) / 2);
}

// Of integers, with as many bits behind the point as asked for: 2.5 is cut, and without such bits the mean is, too.
TEST(Stats, with_a_variance) {
  for (const auto& [shift, expected] : {std::pair<uint8_t, uint64_t>{0, 12}, {8, 2}}) {
    const MapType type{.value = ValueType::kStats, .has_variance = true, .variance_shift = shift};
    Stats stats;
    EXPECT_FALSE(stats.get(type, Statistic::kVariance));
    for (const uint64_t value : {1, 2, 3, 4, 5}) stats.add(type, value);
    EXPECT_EQ(stats.get(type, Statistic::kVariance), expected);
  }
}

TEST(Stats, with_a_histogram) {
  const MapType type{.value = ValueType::kStats,
                     .histogram = {.kind = Kind::kLhist, .low = 0, .high = 2, .step = 1}};
  Stats stats;
  EXPECT_TRUE(stats.buckets.empty());
  for (const int64_t value : {-1, 0, 1, 1, 2, 9}) stats.add(type, static_cast<uint64_t>(value));
  EXPECT_THAT(stats.buckets, testing::ElementsAre(1, 1, 2, 2));
}

}  // namespace
}  // namespace blip::state
