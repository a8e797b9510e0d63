// SPDX-License-Identifier: MIT
#include "cli/signals.h"

#include <gtest/gtest.h>

namespace blip::cli {
namespace {

struct Counting : StopSignals::Listener {
  void stop() override { ++stops; }
  bool forward(int number) override {
    forwarded = number;
    return command_runs;
  }

  int stops = 0;
  int forwarded = -1;
  bool command_runs = false;
};

TEST(StopSignals, each_calls_stop_and_late_ones_are_ignored) {
  Counting listener;
  signal(SIGINT, SIG_DFL);
  {
    StopSignals signals(listener);
    EXPECT_FALSE(StopSignals::requested());
    for (int number : {SIGINT, SIGTERM, SIGHUP, SIGINT}) raise(number);
    EXPECT_EQ(listener.stops, 4);
    EXPECT_TRUE(StopSignals::requested());
    raise(SIGPIPE);
  }
  raise(SIGINT);
  EXPECT_EQ(listener.stops, 4) << "nobody has to ask twice";
  signal(SIGINT, SIG_DFL);
}

TEST(StopSignals, one_that_comes_after_the_end_is_noted_and_harmless) {
  Counting listener;
  signal(SIGINT, SIG_DFL);
  { StopSignals signals(listener); }
  raise(SIGINT);
  EXPECT_EQ(listener.stops, 0);
  EXPECT_TRUE(StopSignals::requested());
  signal(SIGINT, SIG_DFL);
}

TEST(StopSignals, nohup_is_respected) {
  Counting listener;
  signal(SIGHUP, SIG_IGN);
  {
    StopSignals signals(listener);
    raise(SIGHUP);
  }
  EXPECT_EQ(listener.stops, 0);
  signal(SIGHUP, SIG_DFL);
}

TEST(StopSignals, with_a_command_they_are_its_business_until_it_ends) {
  Counting listener;
  listener.command_runs = true;
  StopSignals signals(listener);
  raise(SIGTERM);  // sent by a program
  EXPECT_EQ(listener.forwarded, SIGTERM);
  EXPECT_EQ(listener.stops, 0);
  EXPECT_FALSE(StopSignals::requested());
  listener.command_runs = false;
  raise(SIGINT);
  EXPECT_EQ(listener.stops, 1);
  EXPECT_TRUE(StopSignals::requested());
}

}  // namespace
}  // namespace blip::cli
