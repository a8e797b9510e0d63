// SPDX-License-Identifier: MIT
#include "base/stop.h"

#include <gtest/gtest.h>

namespace blip::stop {
namespace {

TEST(Stop, at_once_only_while_nothing_is_touched) {
  EXPECT_FALSE(may_end_at_once());
  {
    const Untouched untouched;
    EXPECT_TRUE(may_end_at_once());
    {
      const Vital child;
      EXPECT_FALSE(may_end_at_once());
    }
    EXPECT_TRUE(may_end_at_once());
  }
  EXPECT_FALSE(may_end_at_once());
}

TEST(Stop, is_an_error_for_those_who_ask) {
  EXPECT_TRUE(check());
  request();
  EXPECT_TRUE(requested());
  EXPECT_FALSE(check());
}

}  // namespace
}  // namespace blip::stop
