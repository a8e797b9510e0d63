// SPDX-License-Identifier: MIT
#include "cli/script_signals.h"

#include <gtest/gtest.h>

namespace blip::cli {
namespace {

TEST(ScriptSignals, are_kept_until_they_are_taken) {
  ScriptSignals signals;
  ASSERT_TRUE(signals.catch_signal(SIGUSR2));
  ::raise(SIGUSR2);
  ::raise(SIGUSR2);
  std::vector<int> seen;
  signals.take_all([&](int number) { seen.push_back(number); });
  EXPECT_EQ(seen, (std::vector<int>{SIGUSR2, SIGUSR2}));
  signals.take_all([&](int) { FAIL(); });
}

TEST(ScriptSignals, some_are_not_for_scripts) {
  ScriptSignals signals;
  for (const int number : {0, -1, 1000, SIGKILL, SIGSTOP, SIGINT, SIGTERM})
    EXPECT_FALSE(signals.catch_signal(number)) << number;
}

}  // namespace
}  // namespace blip::cli
