// SPDX-License-Identifier: MIT
#include "cli/signals.h"

#include <gtest/gtest.h>

namespace blip::cli {
namespace {

int g_stops = 0;
void count_stop() { ++g_stops; }

TEST(StopSignals, each_calls_stop_and_late_ones_are_ignored) {
  g_stops = 0;
  signal(SIGINT, SIG_DFL);
  {
    StopSignals signals(&count_stop);
    EXPECT_FALSE(StopSignals::requested());
    for (int number : {SIGINT, SIGTERM, SIGHUP, SIGINT}) raise(number);
    EXPECT_EQ(g_stops, 4);
    EXPECT_TRUE(StopSignals::requested());
    raise(SIGPIPE);
  }
  raise(SIGINT);
  EXPECT_EQ(g_stops, 4) << "nobody has to ask twice";
  signal(SIGINT, SIG_DFL);
}

TEST(StopSignals, one_that_comes_after_the_end_is_noted_and_harmless) {
  g_stops = 0;
  signal(SIGINT, SIG_DFL);
  { StopSignals signals(&count_stop); }
  raise(SIGINT);
  EXPECT_EQ(g_stops, 0);
  EXPECT_TRUE(StopSignals::requested());
  signal(SIGINT, SIG_DFL);
}

TEST(StopSignals, nohup_is_respected) {
  g_stops = 0;
  signal(SIGHUP, SIG_IGN);
  {
    StopSignals signals(&count_stop);
    raise(SIGHUP);
  }
  EXPECT_EQ(g_stops, 0);
  signal(SIGHUP, SIG_DFL);
}

bool g_command_runs = true;
int g_forwarded = -1;
bool forward(int number) {
  g_forwarded = number;
  return g_command_runs;
}

TEST(StopSignals, with_a_command_they_are_its_business_until_it_ends) {
  g_stops = 0;
  g_command_runs = true;
  StopSignals signals(&count_stop, &forward);
  raise(SIGTERM);  // sent by a program
  EXPECT_EQ(g_forwarded, SIGTERM);
  EXPECT_EQ(g_stops, 0);
  EXPECT_FALSE(StopSignals::requested());
  g_command_runs = false;
  raise(SIGINT);
  EXPECT_EQ(g_stops, 1);
  EXPECT_TRUE(StopSignals::requested());
}

}  // namespace
}  // namespace blip::cli
