// SPDX-License-Identifier: MIT
#include "cli/options/trace_time.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

namespace blip::cli {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kHour = 3600 * kSecond;
// 2026-01-31 23:00:00.5 in Berlin, an hour before midnight
constexpr int64_t kBegin = 1'769'896'800 * kSecond + kSecond / 2;
constexpr TraceSpan kTwoHours{kBegin, kBegin + 2 * kHour};

int64_t at(const char* text, const TraceSpan& span = kTwoHours) {
  const auto time = TraceTime::parse(text);
  return time ? time->at_ns(span) : INT64_MIN;
}

class TraceTimes : public ::testing::Test {
 protected:
  TraceTimes() {
    ::setenv("TZ", "Europe/Berlin", 1);
    ::tzset();
  }
  ~TraceTimes() override {
    ::unsetenv("TZ");
    ::tzset();
  }
};

TEST_F(TraceTimes, relative_to_the_begin_and_the_end) {
  EXPECT_EQ(at("2s"), kBegin + 2 * kSecond);
  EXPECT_EQ(at("1.5"), kBegin + 3 * kSecond / 2);
  EXPECT_EQ(at("7ns"), kBegin + 7);
  EXPECT_EQ(at("-250us"), kTwoHours.end_ns - 250'000);
}

TEST_F(TraceTimes, a_time_of_day_is_that_of_the_trace) {
  EXPECT_EQ(at("23:00:00.5"), kBegin);
  EXPECT_EQ(at("23:59:59.000000001"), kBegin + kHour - 3 * kSecond / 2 + 1);
  EXPECT_EQ(at("22:00:00"), kBegin - kHour - kSecond / 2) << "before the begin";
  EXPECT_EQ(at("00:30:00"), kBegin + kHour * 3 / 2 - kSecond / 2) << "after midnight";
  EXPECT_EQ(at("01:30:00"), kBegin - 21 * kHour - kHour / 2 - kSecond / 2)
      << "after the end: on the first day";
}

TEST_F(TraceTimes, dates_and_seconds_since_1970) {
  EXPECT_EQ(at("2026-01-31 23:00:00.5"), kBegin);
  EXPECT_EQ(at("2026-01-31T22:00:00.5Z"), kBegin);
  EXPECT_EQ(at("@1769896800.5"), kBegin);
  EXPECT_EQ(at("@1769896800"), kBegin - kSecond / 2);
  EXPECT_EQ(at("@1769896800500000000"), kBegin);
}

TEST_F(TraceTimes, what_is_no_time_is_refused) {
  for (const char* text : {"", "-", "soon", "5 parsecs", "@", "@x", "@1.", "@1.0000000001",
                           "@99999999999999999999", "14:03", "24:00:00", "14:60:00", "14:03:07.",
                           "2026-01-31", "2026-01-31_14:03:07", "2026-1-31 14:03:07", "--2s"})
    EXPECT_FALSE(TraceTime::parse(text)) << text;
}

}  // namespace
}  // namespace blip::cli
