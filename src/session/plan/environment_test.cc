// SPDX-License-Identifier: MIT
#include "session/plan/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proc/files/cpu.h"

namespace blip::session {
namespace {

TEST(Environment, which_clock_records_have) {
  const bool no_tsc = !proc::tsc_usable();
  const struct {
    Mode mode;
    bool latencies;
    ClockChoice clock;
    bool monotonic;
  } cases[] = {
      {Mode::kRecord, false, ClockChoice::kMonotonic, true},
      {Mode::kRecord, false, ClockChoice::kTsc, false},
      {Mode::kTrace, false, ClockChoice::kAuto, no_tsc},
      {Mode::kCount, false, ClockChoice::kMonotonic, false},
      {Mode::kCount, true, ClockChoice::kMonotonic, true},
      {Mode::kCount, true, ClockChoice::kTsc, false},
  };
  for (const auto& c : cases) {
    const Options options{.mode = c.mode, .latencies = c.latencies, .clock = c.clock};
    EXPECT_EQ(records_monotonic_time(options), c.monotonic);
  }
}

TEST(Environment, a_trace_says_where_and_how_it_was_made) {
  const ctf::TraceInfo info = trace_info({.command_line = "blip record -p 1"});
  EXPECT_EQ(info.command_line, "blip record -p 1");
  EXPECT_FALSE(info.hostname.empty());
  EXPECT_THAT(info.creation_time, testing::MatchesRegex("20..-..-..T..:..:..Z"));
}

TEST(Environment, time_goes_on) {
  const double before = since_process_start_ms(), used = cpu_seconds();
  EXPECT_GT(before, 0);
  EXPECT_GE(since_process_start_ms(), before);
  EXPECT_GE(cpu_seconds(), used);
}

}  // namespace
}  // namespace blip::session
