// SPDX-License-Identifier: MIT
#include "cli/options/shell_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace blip::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> split(std::string_view line) {
  auto words = split_shell_words(line);
  EXPECT_TRUE(words) << line << ": " << (words ? "" : words.error().message());
  return words ? *words : std::vector<std::string>();
}

TEST(ShellWords, as_sh_splits) {
  EXPECT_THAT(split("ls -l"), ElementsAre("ls", "-l"));
  EXPECT_THAT(split("  ls\t-l \n"), ElementsAre("ls", "-l"));
  EXPECT_THAT(split("a 'b c' \"d  e\""), ElementsAre("a", "b c", "d  e"));
  EXPECT_THAT(split("a'b'\"c\"d"), ElementsAre("abcd"));
  EXPECT_THAT(split("a '' \"\""), ElementsAre("a", "", ""));
  EXPECT_THAT(split(R"(a\ b \\ \' "\"\\\a")"), ElementsAre("a b", "\\", "'", "\"\\\\a"));
  EXPECT_THAT(split("a\\\nb \"c\\\nd\""), ElementsAre("ab", "cd"));
  EXPECT_THAT(split("x~ a#b k=v"), ElementsAre("x~", "a#b", "k=v"));
  EXPECT_THAT(split("'|&;<>()$`*?[~#' \\$HOME"), ElementsAre("|&;<>()$`*?[~#", "$HOME"));
}

TEST(ShellWords, what_cannot_be_split) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "empty"},       {"  ", "empty"},       {"a 'b", "' is not closed"}, {"a \"b", "\" is not closed"},
      {"a\\", "the end"},  {"ls | wc", "shell"},  {"ls > x", "shell"},         {"ls *.c", "shell"},
      {"a; b", "shell"},   {"a $HOME", "shell"},  {"a \"$HOME\"", "shell"},    {"a \"`b`\"", "shell"},
      {"ls ~/x", "shell"}, {"a # rest", "shell"},
  };
  for (const auto& [line, message] : cases) {
    const auto words = split_shell_words(line);
    ASSERT_FALSE(words) << line;
    EXPECT_EQ(words.error().kind(), ErrorKind::kUsage);
    EXPECT_THAT(words.error().message(), HasSubstr(message)) << line;
  }
}

}  // namespace
}  // namespace blip::cli
