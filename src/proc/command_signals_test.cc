// SPDX-License-Identifier: MIT
#include "proc/command_signals.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

namespace blip::proc {
namespace {

TEST(CommandSignals, what_came_before_the_command_reaches_it) {
  CommandSignals signals;
  EXPECT_TRUE(signals.send(0));
  EXPECT_TRUE(signals.send(SIGUSR1));
  auto command = Command::start({"sleep", "100"});
  ASSERT_TRUE(command) << command.error().message();
  signals.hold(*command);
  ASSERT_TRUE(command->go());
  EXPECT_EQ(WTERMSIG(command->wait()), SIGUSR1);
}

TEST(CommandSignals, the_end_of_the_command_is_known) {
  CommandSignals signals;
  auto command = Command::start({"sleep", "100"});
  ASSERT_TRUE(command);
  signals.hold(*command);
  ASSERT_TRUE(command->go());
  EXPECT_TRUE(signals.send(0));
  EXPECT_TRUE(signals.send(SIGTERM));
  EXPECT_EQ(WTERMSIG(command->wait()), SIGTERM);
  EXPECT_FALSE(signals.send(0));
  EXPECT_FALSE(signals.send(SIGTERM));
  signals.forget();
  EXPECT_TRUE(signals.send(0));
}

}  // namespace
}  // namespace blip::proc
