// SPDX-License-Identifier: MIT
#include "base/edit_distance.h"

#include <gtest/gtest.h>

#include <string>

namespace blip {
namespace {

TEST(EditDistance, counts_letters) {
  const struct {
    std::string_view a, b;
    size_t limit;
    std::optional<size_t> distance;
  } cases[] = {
      {"", "", 0, 0},
      {"record", "record", 0, 0},
      {"record", "recor", 1, 1},
      {"recor", "record", 1, 1},
      {"record", "recird", 1, 1},
      {"record", "recrod", 1, 1},
      {"record", "recrod", 0, std::nullopt},
      {"kitten", "sitting", 3, 3},
      {"kitten", "sitting", 2, std::nullopt},
      {"", "abc", 3, 3},
      {"", "abc", 2, std::nullopt},
      {"abcd", "wxyz", 3, std::nullopt},
      {"ca", "abc", 3, 3},
  };
  for (const auto& c : cases) EXPECT_EQ(edit_distance(c.a, c.b, c.limit), c.distance) << c.a << " " << c.b;
}

TEST(EditDistance, leaves_very_long_words_alone) {
  const std::string longest(256, 'a'), longer(257, 'a');
  EXPECT_EQ(edit_distance(longest, longest, 3), 0u);
  EXPECT_FALSE(edit_distance(longer, longest, 3));
  EXPECT_FALSE(edit_distance(longest, longer, 3));
}

}  // namespace
}  // namespace blip
