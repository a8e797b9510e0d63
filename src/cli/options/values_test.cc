// SPDX-License-Identifier: MIT
#include "cli/options/values.h"

#include <gtest/gtest.h>

namespace blip::cli {
namespace {

TEST(Duration, accepts_the_usual_spellings) {
  const struct {
    const char* text;
    int64_t ns;
  } kCases[] = {
      {"10s", 10'000'000'000},    {"500ms", 500'000'000},  {"2m", 120'000'000'000},
      {"1h", 3'600'000'000'000},  {"7", 7'000'000'000},    {"250us", 250'000},
      {"1.5s", 1'500'000'000},    {"0.25", 250'000'000},   {"0.5ms", 500'000},
      {"1d", 86'400'000'000'000}, {"007s", 7'000'000'000}, {"1.000000001s", 1'000'000'001},
  };
  for (const auto& c : kCases) {
    const auto parsed = parse_duration(c.text);
    ASSERT_TRUE(parsed) << c.text;
    EXPECT_EQ(parsed->count(), c.ns) << c.text;
  }
}

TEST(Duration, refuses_everything_else) {
  for (const char* text : {"", "s", "-1s", "+1", "1x", "1 s", "1sm", "1.", ".5s", "1.s", "0", "0ms", "0.0s",
                           "99999999999999999999", "999999999999h", "9223372036854775807", "1e3"}) {
    const auto parsed = parse_duration(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().kind(), ErrorKind::kUsage) << text;
  }
}

TEST(Size, suffixes_are_1024_based) {
  const struct {
    const char* text;
    uint64_t bytes;
  } kCases[] = {
      {"0", 0},         {"4096", 4096},   {"4k", 4096},       {"4K", 4096},
      {"1M", 1U << 20}, {"1m", 1U << 20}, {"3G", 3ULL << 30}, {"17179869183G", 17179869183ULL << 30}};
  for (const auto& c : kCases) {
    const auto parsed = parse_size(c.text);
    ASSERT_TRUE(parsed) << c.text;
    EXPECT_EQ(*parsed, c.bytes) << c.text;
  }
  for (const char* text : {"", "k", "1kB", "1T", "-1k", "1 k", "17179869184G", "0x1000"})
    EXPECT_FALSE(parse_size(text)) << text;
}

TEST(PowerOfTwo, says_what_would_be_right) {
  EXPECT_EQ(*parse_power_of_two("64k", 4096, 1U << 30), 65536U);
  EXPECT_EQ(*parse_power_of_two("1G", 4096, 1U << 30), 1U << 30);
  EXPECT_EQ(parse_power_of_two("2k", 4096, 1U << 30).error().message(), "2k is too small: at least 4k");
  EXPECT_EQ(parse_power_of_two("2G", 4096, 1U << 30).error().message(), "2G is too large: at most 1G");
  EXPECT_EQ(parse_power_of_two("3M", 4096, 1U << 30).error().message(),
            "3M is not a power of two: 2M or 4M would be");
  EXPECT_EQ(parse_power_of_two("3", 2, 1U << 16).error().message(),
            "3 is not a power of two: 2 or 4 would be");
}

TEST(Number, has_limits) {
  EXPECT_EQ(*parse_number("1", 1, 10), 1U);
  EXPECT_EQ(*parse_number("18446744073709551615", 0, UINT64_MAX), UINT64_MAX);
  EXPECT_EQ(parse_number("0", 1, 10).error().message(), "0 is too small: at least 1");
  EXPECT_EQ(parse_number("11", 1, 10).error().message(), "11 is too large: at most 10");
  for (const char* text : {"", "x", "1x", "-1", " 1", "18446744073709551616"})
    EXPECT_FALSE(parse_number(text, 0, UINT64_MAX)) << text;
}

TEST(Values, short_durations_are_milliseconds_unless_they_say_otherwise) {
  using std::chrono::microseconds;
  EXPECT_EQ(*parse_short_duration("20"), microseconds(20000));
  EXPECT_EQ(*parse_short_duration("20ms"), microseconds(20000));
  EXPECT_EQ(*parse_short_duration("0.5"), microseconds(500));
  EXPECT_EQ(*parse_short_duration("1s"), microseconds(1000000));
  EXPECT_EQ(*parse_short_duration("250us"), microseconds(250));
  for (const char* bad : {"", "0", "0.0", "x", "20 ms", "ms", "-1", "1..5"})
    EXPECT_FALSE(parse_short_duration(bad)) << bad;
}

}  // namespace
}  // namespace blip::cli
