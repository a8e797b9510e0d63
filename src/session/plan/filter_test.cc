// SPDX-License-Identifier: MIT
#include "session/plan/filter.h"

#include <gtest/gtest.h>

namespace blip::session {
namespace {

TEST(Filter, what_is_about_returns) {
  const std::pair<const char*, bool> cases[] = {
      {"n > 1", false},
      {"ret > 1", true},
      {"$return->size > 1", true},
      {"latency_ns > 1000", true},
      {"n > 1 && (depth == 2 || m)", true},
      {"tail", true},
      {"entry(n) > n", true},
      {"file.c::ret > 1", false},  // a variable
      {"$rax > 1", false},
      {"", false},
      {"n >", false},  // what is wrong is said where it is compiled
  };
  for (const auto& [filter, expected] : cases) EXPECT_EQ(is_about_returns(filter), expected) << filter;
}

}  // namespace
}  // namespace blip::session
