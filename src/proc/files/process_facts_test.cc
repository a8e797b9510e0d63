// SPDX-License-Identifier: MIT
#include "proc/files/process_facts.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace blip::proc {
namespace {

TEST(ProcessFacts, are_those_of_the_process) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) ::execlp("env", "env", "-", "COLOR=blue", "sleep", "60", nullptr);
  std::vector<std::string> words;
  for (int i = 0; i < 500 && (words.empty() || words[0] != "sleep"); ++i) {
    ::usleep(10'000);
    words = command_line_of(child);
  }
  EXPECT_EQ(words, (std::vector<std::string>{"sleep", "60"}));
  EXPECT_EQ(environment_of(child, "COLOR"), "blue");
  EXPECT_EQ(environment_of(child, "COLO"), "");
  EXPECT_EQ(parent_of(child), ::getpid());
  EXPECT_EQ(owner_of(child), std::pair(::getuid(), ::getgid()));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(command_line_of(child).empty());
  EXPECT_EQ(parent_of(child), 0);
  EXPECT_FALSE(owner_of(child));
}

}  // namespace
}  // namespace blip::proc
